import { AppError } from '../../errors.ts'

/** NOT_FOUND for a path without a route. */
export function notFound(): AppError {
  return new AppError('NOT_FOUND', 'There is nothing at this address.')
}

/** METHOD_NOT_ALLOWED with an Allow header. GET includes HEAD. */
export function methodNotAllowed(methods: Iterable<string>): AppError {
  const allowed = [...methods].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const headers = { Allow: allowed.join(', ') }
  return new AppError('METHOD_NOT_ALLOWED', 'This address does not accept that method.', {}, { headers })
}
