import { AppError } from '../../errors.ts'

export function notFound(): AppError {
  return new AppError('NOT_FOUND', 'There is nothing at this address.')
}

/** A refusal that names the methods an address does take; HEAD goes where GET does. */
export function methodNotAllowed(methods: Iterable<string>): AppError {
  const allowed = [...methods].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const headers = { Allow: allowed.join(', ') }
  return new AppError('METHOD_NOT_ALLOWED', 'This address does not take that method.', {}, { headers })
}
