import { z } from 'zod'
import type { EventSubject } from '../../shop/events/event-types.ts'
import { ownOrder } from '../../shop/checkout/shapes.ts'

const part = z.string().nullable()

const customer = z
  .object({
    id: z.int().nullable().meta({ description: 'The id of the account; null for a guest.', example: 17 }),
    email: part.meta({ example: 'ada@example.com' }),
    firstName: part.meta({ example: 'Ada' }),
    lastName: part.meta({ example: 'Quill' }),
    phone: part,
    companyName: part
  })
  .meta({ id: 'EventCustomer', description: 'The buyer of an order, or the owner of an account.' })

const withCustomer = {
  customer: customer
    .nullable()
    .exactOptional()
    .meta({ description: 'Only with full data. Null if there is none, or if the person is erased.' })
}

/** What full data adds to an event, by what the event is about. */
export const eventDetails = {
  customer: withCustomer,
  order: {
    order: ownOrder
      .nullable()
      .exactOptional()
      .meta({ description: 'Only with full data: the order as it is when the event is sent. Null if there is none.' }),
    ...withCustomer
  }
} satisfies Record<Exclude<EventSubject, null>, z.ZodRawShape>
