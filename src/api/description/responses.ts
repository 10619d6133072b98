import { z } from 'zod'
import type { ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi'
import { describeCode } from '../answers/error-codes.ts'
import type { PublicCode } from '../answers/error-codes.ts'
import type { Answer, Route } from '../route.ts'
import type { ApiDocument } from './api-document.ts'
import { failureExample, failureSchema, successSchema } from './envelopes.ts'
import { exampleOf } from './examples.ts'
import { refusalsOf } from './refusals.ts'

const text = { schema: { type: 'string' } } as const

/** The OpenAPI responses of an endpoint: its success and every error code that it answers. */
export function responsesOf(route: Route): ZodOpenApiResponsesObject {
  const responses: Record<`${1 | 2 | 3 | 4 | 5}${string}`, ZodOpenApiResponseObject> = {
    [`${route.answers[0]?.status ?? 200}` as const]: successOf(route)
  }
  if (route.cache === 'public') {
    const description = 'The stored response of the client is current.'
    responses['304'] = { description, headers: { ...everyAnswers(route), ...validator } }
  }
  for (const [status, codes] of withHostRefusal(route))
    responses[`${status}` as '400'] = refusalOf(route, status, codes)
  return responses
}

/** The refusals of a route, and 400 for an invalid Host header, which no route sees. */
function withHostRefusal(route: Route): Map<number, readonly PublicCode[]> {
  const refusals = new Map<number, readonly PublicCode[]>(refusalsOf(route))
  const codes = refusals.get(400) ?? []
  return codes.includes('VALIDATION_FAILED') ? refusals : refusals.set(400, [...codes, 'VALIDATION_FAILED'])
}

type AnswerHeaders = Record<string, { schema: { type: 'string' }; required?: true; description?: string }>

const validator: AnswerHeaders = { ETag: { ...text, required: true, description: 'For If-None-Match.' } }

function everyAnswers({ proxy }: Route): AnswerHeaders {
  return {
    'X-Request-Id': { ...text, required: true, description: 'The same as request_id in meta; always new.' },
    'Cache-Control': { ...text, required: true },
    ...(proxy === null
      ? {}
      : {
          'X-Dropped-Query': {
            ...text,
            description: 'From the first-party proxy: the names of the query parameters that it dropped, at most ten.'
          }
        })
  }
}

/** The headers of an endpoint's own. A failed checkout has created an order, too. */
function ownHeaders({ sends = {} }: Route): AnswerHeaders {
  return Object.fromEntries(Object.entries(sends).map(([name, description]) => [name, { ...text, description }]))
}

function successOf(route: Route): ZodOpenApiResponseObject {
  const schemas = route.answers.map(successSchema)
  const [first = z.object({}), ...more] = schemas
  return {
    description: descriptionOf(route.answers),
    headers: { ...everyAnswers(route), ...(route.cache === 'public' ? validator : {}), ...ownHeaders(route) },
    content: { 'application/json': { schema: more.length === 0 ? first : z.union([first, ...more]) } }
  }
}

function descriptionOf(answers: readonly Answer[]): string {
  return answers.flatMap(({ about }) => about ?? []).join(' Or: ') || 'Done.'
}

function refusalOf(route: Route, status: number, codes: readonly PublicCode[]): ZodOpenApiResponseObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${describeCode(code).when}`).join('\n\n'),
    headers: {
      ...everyAnswers(route),
      ...(codes.includes('CHECKOUT_FAILED') ? ownHeaders(route) : {}),
      ...(status === 429 || status === 503
        ? { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds.' } as const }
        : {}),
      ...(status === 405 ? { Allow: { ...text, required: true } } : {}),
      ...(status === 415
        ? { 'Accept-Encoding': { ...text, description: 'The encoding that is read, after a Content-Encoding.' } }
        : {})
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
