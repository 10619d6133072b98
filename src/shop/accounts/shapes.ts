import { z } from 'zod'
import { id, time } from '../../platform/public-fields.ts'

const wpRoles = z
  .array(z.string())
  .meta({ description: 'A subset of customer, affiliate and administrator.', example: ['customer'] })

export const nonceUser = z
  .object({
    id,
    email: z.string().meta({ example: 'ada@example.com' }),
    displayName: z.string().meta({ example: 'Ada Quill' }),
    roles: wpRoles,
    createdAt: time
  })
  .meta({ id: 'NonceUser', description: 'A user without the billing and company fields.' })

export const user = z
  .object({
    ...nonceUser.shape,
    billingEmail: z.string().exactOptional().meta({ example: 'accounts@example.com' }),
    billingPhone: z.string().exactOptional().meta({ example: '+49 40 555 0100' }),
    companyName: z.string().exactOptional().meta({ example: 'Quill & Co' })
  })
  .meta({ id: 'User', description: 'The three billing and company fields are omitted if they are not set.' })
export type UserView = z.infer<typeof user>

export const roles = z
  .object({
    wpRoles,
    serviceRoles: z
      .array(z.string())
      .meta({ description: 'A subset of member, pro, affiliate and admin.', example: ['member'] })
  })
  .meta({ id: 'Roles' })

export const profile = z
  .object({
    firstName: z.string().nullable().meta({ example: 'Ada' }),
    lastName: z.string().nullable().meta({ example: 'Quill' })
  })
  .meta({ id: 'Profile' })
export type ProfileView = z.infer<typeof profile>

export const consent = z
  .object({ marketingOptIn: z.boolean(), termsAcceptedAt: time.nullable(), privacyAcceptedAt: time.nullable() })
  .meta({ id: 'Consent' })
export type ConsentView = z.infer<typeof consent>
