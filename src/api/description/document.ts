import { createDocument } from 'zod-openapi'
import type { CreateDocumentOptions, ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi'
import { packageVersion } from '../../platform/package-root.ts'
import type { Route } from '../route.ts'
import { routes } from '../routes.ts'
import type { ApiDocument } from './api-document.ts'
import { describeFields } from './describe-fields.ts'
import { requestExamples } from './examples.ts'
import { introduction, tags } from './introduction.ts'
import { parametersOf, withProxyNotes } from './parameters.ts'
import { addExamples, responsesOf } from './responses.ts'
import { describeWebhooks } from './webhooks.ts'

/**
 * The API as OpenAPI 3.1, generated from the schemas that validate requests and type the handlers' results.
 *
 * @param place the shop's address, and the name of its session cookie
 */
export function describeApi(place: { publicUrl: string; apiPrefix: string; cookieName: string }): ApiDocument {
  const service = { url: `${place.publicUrl}${place.apiPrefix}`, description: 'The service itself, for servers.' }
  const document = createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Shopstead',
        version: packageVersion(),
        description: introduction,
        contact: { name: 'The shop', url: place.publicUrl },
        license: { name: 'MIT', identifier: 'MIT' }
      },
      servers: [{ url: `${place.publicUrl}/api/secure`, description: 'The first-party proxy.' }, service],
      tags: tags.map(({ name, description }) => ({ name, description })),
      paths: pathsOf(routes, service),
      webhooks: describeWebhooks(),
      components: {
        securitySchemes: {
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: place.cookieName,
            description: 'Set by login and register. HttpOnly: scripts cannot read it and do not need to.'
          },
          nonce: {
            type: 'apiKey',
            in: 'header',
            name: 'X-Nonce',
            description: 'The nonce from GET /nonce. It is valid for 12 hours, for the session that it was issued to.'
          }
        }
      }
    },
    options
  )
  describeFields(document)
  addExamples(document)
  withProxyNotes(document, routes)
  return document
}

type Server = { url: string; description: string }

function pathsOf(all: readonly Route[], service: Server): ZodOpenApiPathsObject {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {}
  for (const route of all) (paths[route.path] ??= {})[route.method.toLowerCase()] = operationOf(route, service)
  return paths
}

function operationOf(route: Route, service: Server): ZodOpenApiOperationObject {
  const body = route.body ?? route.rawBody
  return {
    operationId: operationIdOf(route),
    summary: route.summary,
    description: nonceNote(route),
    tags: [tagOf(route)],
    ...(route.proxy === null ? { servers: [service] } : {}),
    security: securityOf(route),
    requestParams: parametersOf(route),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !body.safeParse({}).success,
            content: {
              'application/json': { schema: body, example: requestExamples[`${route.method} ${route.path}`] }
            }
          }
        }),
    responses: responsesOf(route)
  }
}

/** `POST /store/checkout-session` is postStoreCheckoutSession. */
export function operationIdOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const words = path.split(/[/{}-]/).filter((word) => word !== '')
  return [method.toLowerCase(), ...words.map((word) => `${word[0]?.toUpperCase() ?? ''}${word.slice(1)}`)].join('')
}

function tagOf({ path }: Route): string {
  const area = path.split('/')[1] ?? ''
  return tags.find(({ areas }) => areas.includes(area))?.name ?? 'Service'
}

function nonceNote({ nonce, proxy }: Route): string {
  if (proxy === null) return 'Not available through the first-party proxy.'
  if (nonce === 'always') return 'Requires a nonce, also at the service itself.'
  return proxy.nonce ? 'Requires a nonce through the first-party proxy.' : 'Requires no nonce.'
}

/** The requirements of the proxy. The service itself requires less where nonceNote says so. */
function securityOf({ session, nonce, proxy }: Route): Record<string, string[]>[] {
  const base: Record<string, string[]> = nonce === 'always' || proxy?.nonce === true ? { nonce: [] } : {}
  const withSession = { ...base, session: [] }
  if (session === 'required') return [withSession]
  return session === 'optional' ? [base, withSession] : [base]
}

const options: CreateDocumentOptions = {
  override: ({ jsonSchema, io }) => {
    // zod writes this limit for every integer.
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
    // Responses may gain fields within v1, so a client must not reject unknown fields.
    if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  }
}
