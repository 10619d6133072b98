import { z } from 'zod'
import type { ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi'
import { describeCode } from '../answers/error-codes.ts'
import type { PublicCode } from '../answers/error-codes.ts'
import type { Answer, Route } from '../route.ts'
import type { ApiDocument } from './api-document.ts'
import { failureExample, failureSchema, successSchema } from './envelopes.ts'
import { exampleOf } from './examples.ts'
import { refusalsOf } from './refusals.ts'

const requestId = { schema: { type: 'string' }, description: 'The same as request_id in meta; always new.' } as const
const text = { schema: { type: 'string' } } as const

/** The OpenAPI responses of an endpoint: its success and every error code that it answers. */
export function responsesOf(route: Route): ZodOpenApiResponsesObject {
  const responses: Record<`${1 | 2 | 3 | 4 | 5}${string}`, ZodOpenApiResponseObject> = {
    [`${route.answers[0]?.status ?? 200}` as const]: successOf(route)
  }
  if (route.cache === 'public') {
    responses['304'] = { description: 'The stored response of the client is current.', headers: { ETag: text } }
  }
  for (const [status, codes] of refusalsOf(route)) responses[`${status}` as '400'] = refusalOf(status, codes)
  return responses
}

function successOf({ answers, cache, startsSession, path }: Route): ZodOpenApiResponseObject {
  const schemas = answers.map(successSchema)
  const [first = z.object({}), ...more] = schemas
  return {
    description: descriptionOf(answers),
    headers: {
      'X-Request-Id': requestId,
      'Cache-Control': text,
      ...(cache === 'public' ? { ETag: { ...text, description: 'For If-None-Match.' } } : {}),
      ...(startsSession === true ? { 'Set-Cookie': { ...text, description: 'The session.' } } : {}),
      ...(path === '/store/checkout-session'
        ? { 'Idempotency-Replayed': { ...text, description: 'true if an earlier response is repeated.' } }
        : {})
    },
    content: { 'application/json': { schema: more.length === 0 ? first : z.union([first, ...more]) } }
  }
}

function descriptionOf(answers: readonly Answer[]): string {
  return answers.flatMap(({ about }) => about ?? []).join(' Or: ') || 'Done.'
}

function refusalOf(status: number, codes: readonly PublicCode[]): ZodOpenApiResponseObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${describeCode(code).when}`).join('\n\n'),
    headers: {
      'X-Request-Id': requestId,
      ...(status === 429 || status === 503
        ? { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds.' } as const }
        : {}),
      ...(status === 405 ? { Allow: text } : {})
    },
    content: {
      'application/json': {
        schema: failureSchema(codes),
        examples: Object.fromEntries(codes.map((code) => [code, { value: failureExample(code) }]))
      }
    }
  }
}

/** Adds examples to successful responses, composed of the examples in their schemas. */
export function addExamples(document: ApiDocument): void {
  const components = document.components?.schemas ?? {}
  for (const path of Object.values(document.paths ?? {})) {
    for (const operation of [path.get, path.post, path.patch]) {
      for (const [status, response] of Object.entries(operation?.responses ?? {})) {
        const content = status.startsWith('2') && 'content' in response ? response.content : undefined
        const media = content?.['application/json']
        if (media !== undefined) media.example = exampleOf(media.schema, components)
      }
    }
  }
}
