import { download } from '../../shop/benefits/download-links.ts'
import { z } from 'zod'
import { time } from '../../platform/public-fields.ts'
import { consent, nonceUser, profile, roles, user } from '../../shop/accounts/shapes.ts'
import { entitlements, flags } from '../../shop/entitlements/shapes.ts'
import { address } from '../../shop/checkout/shapes.ts'

export const nonceData = z
  .object({
    nonce: z.string().meta({ example: 'AbCdEfGh'.repeat(10) }),
    headerName: z.string().meta({ const: 'X-Nonce' }),
    userLoggedIn: z.boolean(),
    userId: z.int().exactOptional().meta({ description: 'Omitted without a session.', example: 17 }),
    user: nonceUser.nullable()
  })
  .meta({ id: 'Nonce' })

const account = { user, flags, entitlements }

export const startedData = z
  .object({
    ...account,
    next: z.string().meta({
      description: 'The path of GET /me, below the proxy for a request through it.',
      example: '/api/secure/me'
    })
  })
  .meta({ id: 'StartedSession' })

export const pendingData = z
  .object({ ...account, registrationStatus: z.string().meta({ const: 'pending_verification' }) })
  .meta({ id: 'PendingRegistration' })

export const meData = z.object({ ...account, roles, profile, consent }).meta({ id: 'Me' })

export const downloadsData = z.object({ downloads: z.array(download) })

export const emailChangeData = z.object({
  pending: z
    .object({
      email: z.string().meta({ example: 'ada.new@example.com' }),
      expiresAt: time.meta({ description: 'When the link ends.' })
    })
    .nullable(),
  verified: z.boolean()
})

export const ownAddressData = z.object({ address: address.nullable() })

/** What a step of an account's life answers: its name, true. */
export function done<const Name extends string>(name: Name) {
  return z.object({ [name]: z.boolean().meta({ const: true }) } as Record<Name, z.ZodBoolean>)
}
