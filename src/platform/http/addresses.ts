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

/** What a path leads to, and the values of its parameters. */
export type Place<T> = { value: T; params: Readonly<Record<string, string>> }

/**
 * Finds what belongs to a path. A key is an exact path, or a template: `{id}` in `/me/subscriptions/{id}` stands for one
 * segment of letters, digits, `_` and `-`, so that an encoded or relative path never matches.
 */
export function pathTable<T>(table: ReadonlyMap<string, T>): (path: string) => Place<T> | undefined {
  const templates = [...table].flatMap(([key, value]) =>
    key.includes('{') ? [{ pattern: patternOf(key), value }] : []
  )
  return (path) => {
    const exact = path.includes('{') ? undefined : table.get(path)
    if (exact !== undefined) return { value: exact, params: {} }
    for (const { pattern, value } of templates) {
      const found = pattern.exec(path)
      if (found !== null) return { value, params: found.groups ?? {} }
    }
    return undefined
  }
}

function patternOf(template: string): RegExp {
  const escaped = template.replaceAll(/[^\w/{}-]/g, String.raw`\$&`)
  return new RegExp(`^${escaped.replaceAll(/\{(\w+)\}/g, String.raw`(?<$1>[\w-]{1,100})`)}$`)
}
