import { z } from 'zod'
import type { ZodOpenApiParameters } from 'zod-openapi'
import type { Route } from '../route.ts'
import type { ApiDocument } from './api-document.ts'

const correlation = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,128}$/)
  .optional()
  .meta({
    id: 'CorrelationId',
    description: 'Returned in meta and written to the log. An invalid value is replaced.',
    example: 'page-7f3a'
  })

/** The OpenAPI parameters of an endpoint's path, query and headers. */
export function parametersOf({ params, query, headers }: Route): ZodOpenApiParameters {
  return {
    header: z.object({ ...headers?.shape, 'X-Correlation-Id': correlation }),
    ...(params === undefined ? {} : { path: params }),
    ...(query instanceof z.ZodObject ? { query } : {})
  }
}

/** Adds a note to each parameter that the proxy drops. */
export function withProxyNotes(document: ApiDocument, routes: readonly Route[]): void {
  for (const { method, path, proxy } of routes) {
    const operation = document.paths?.[path]?.[method.toLowerCase() as 'get']
    for (const parameter of operation?.parameters ?? []) {
      if (!('in' in parameter) || parameter.in !== 'query' || proxy?.query.includes(parameter.name ?? '')) continue
      parameter.description = `${parameter.description ?? ''} The first-party proxy drops it.`.trim()
    }
  }
}
