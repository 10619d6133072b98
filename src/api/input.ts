import { validationFailed } from '../errors.ts'
import type { FieldErrors } from '../errors.ts'
import { notFound } from '../platform/http/answers.ts'
import { parseJsonBody } from '../platform/http/body.ts'
import { rawTarget } from '../platform/http/request.ts'
import { parseQuery, fieldPath, messageFor, toFieldErrors } from '../platform/http/validation.ts'
import type { Route } from './route.ts'

/**
 * Parses query and body of a request by the schemas of its route. One error names all invalid fields of both.
 *
 * @throws AppError VALIDATION_FAILED
 */
export function parseInput(route: Route, request: Request, raw: Uint8Array): { query: unknown; body: unknown } {
  const sent = parseQuery(rawTarget(request))
  const query = route.query?.safeParse(Object.fromEntries(sent), { error: messageFor })
  const body = route.body?.safeParse(parseJsonBody(raw), { error: messageFor })
  const errors: FieldErrors = {
    ...refusedParameters(route, sent),
    ...(query?.error === undefined ? {} : toFieldErrors(query.error)),
    ...(body?.error === undefined ? {} : toFieldErrors(body.error))
  }
  if (Object.keys(errors).length > 0) throw validationFailed(errors)
  return { query: query?.data, body: body?.data }
}

/** Parses the path parameters by the route's schema. @throws AppError NOT_FOUND */
export function parseParams({ params }: Route, sent: Readonly<Record<string, string>>) {
  const parsed = params?.safeParse(sent)
  if (parsed?.success === false) throw notFound()
  return parsed?.data
}

/** Uses entries, because an assignment would lose a parameter named `__proto__`. */
function refusedParameters(route: Route, sent: ReadonlyMap<string, string>): FieldErrors {
  if (route.unknownQuery !== 'refused') return {}
  const unknown = [...sent.keys()].filter((name) => !route.proxy?.query.includes(name))
  return Object.fromEntries(unknown.map((name) => [fieldPath([name]), ['Is not a parameter here.']]))
}
