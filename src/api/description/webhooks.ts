import { z } from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi'
import { eventTypes } from '../../shop/events/event-types.ts'
import type { EventSubject } from '../../shop/events/event-types.ts'
import { eventDetails } from '../answers/events.ts'
import { time } from '../../platform/public-fields.ts'

type EventType = { about: string; data: z.ZodObject; subject: EventSubject }

const signature = {
  'webhook-id': z.string().meta({ description: 'The same for each attempt to send the event.', example: 'evt_mb1_17' }),
  'webhook-timestamp': z.string().meta({ description: 'The time of the attempt in seconds.', example: '1773480413' }),
  'webhook-signature': z
    .string()
    .meta({ description: 'Signatures as Standard Webhooks specifies.', example: 'v1,K5o…' })
}

/** The webhooks of the API description: each event that the shop sends, with and without full data. */
export function describeWebhooks(): ZodOpenApiPathsObject {
  const types: [string, EventType][] = Object.entries(eventTypes)
  return Object.fromEntries(types.map(([type, event]) => [type, { post: describeEvent(type, event) }]))
}

function describeEvent(type: string, { about, data, subject }: EventType): ZodOpenApiOperationObject {
  const details = subject === null ? {} : eventDetails[subject]
  const body = z.object({
    type: z.literal(type),
    timestamp: time.meta({ description: 'When it happened.' }),
    data: data.extend(details)
  })
  const words = type.split(/[._-]/).map((word) => `${word[0]?.toUpperCase() ?? ''}${word.slice(1)}`)
  return {
    operationId: `send${words.join('')}`,
    summary: `${about[0]?.toUpperCase() ?? ''}${about.slice(1)}`,
    tags: ['Events'],
    security: [],
    requestParams: { header: z.object(signature) },
    requestBody: { required: true, content: { 'application/json': { schema: body } } },
    responses: { '2XX': { description: 'The receiver has the event. Any other answer is tried again.' } }
  }
}
