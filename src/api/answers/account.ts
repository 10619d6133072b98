import { download } from '../../shop/benefits/download-links.ts'
import { z } from 'zod'
import { entitlements } from './entitlements.ts'
import { id, time } from '../../platform/public-fields.ts'
import { flags } from './flags.ts'
import { address } from '../../shop/checkout/shapes.ts'

const wpRoles = z
  .array(z.string())
  .meta({ description: 'A subset of customer, affiliate and administrator.', example: ['customer'] })

const nonceUser = z
  .object({
    id,
    email: z.string().meta({ example: 'ada@example.com' }),
    displayName: z.string().meta({ example: 'Ada Quill' }),
    roles: wpRoles,
    createdAt: time
  })
  .meta({ id: 'NonceUser', description: 'A user without the billing and company fields.' })

const user = z
  .object({
    ...nonceUser.shape,
    billingEmail: z.string().exactOptional().meta({ example: 'accounts@example.com' }),
    billingPhone: z.string().exactOptional().meta({ example: '+49 40 555 0100' }),
    companyName: z.string().exactOptional().meta({ example: 'Quill & Co' })
  })
  .meta({ id: 'User', description: 'The three billing and company fields are omitted if they are not set.' })

const roles = z
  .object({
    wpRoles,
    serviceRoles: z
      .array(z.string())
      .meta({ description: 'A subset of member, pro, affiliate and admin.', example: ['member'] })
  })
  .meta({ id: 'Roles' })

const profile = z
  .object({
    firstName: z.string().nullable().meta({ example: 'Ada' }),
    lastName: z.string().nullable().meta({ example: 'Quill' })
  })
  .meta({ id: 'Profile' })

const consent = z
  .object({ marketingOptIn: z.boolean(), termsAcceptedAt: time.nullable(), privacyAcceptedAt: time.nullable() })
  .meta({ id: 'Consent' })

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
    .nullable()
})

export const ownAddressData = z.object({ address: address.nullable() })

/** What a step of an account's life answers: its name, true. */
export function done<const Name extends string>(name: Name) {
  return z.object({ [name]: z.boolean().meta({ const: true }) } as Record<Name, z.ZodBoolean>)
}
