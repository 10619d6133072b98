import { z } from 'zod'
import { emailField, lineField, nameField, optionalFlag, optionalLine, optionalTime, passwordField } from './fields.ts'

/**
 * Request bodies (docs/interface.md 4.2 and 4.3, docs/contract.md A3 and A5). Unknown fields are refused.
 */

export const registerInput = z.strictObject({
  email: emailField,
  password: passwordField,
  displayName: nameField(100),
  acceptTerms: z.literal(true, { error: 'Must be true.' }),
  firstName: optionalLine(100),
  lastName: optionalLine(100),
  marketingOptIn: optionalFlag,
  termsAcceptedAt: optionalTime,
  privacyAcceptedAt: optionalTime
})
export type RegisterInput = z.output<typeof registerInput>

const identifier = lineField(254)
  .nullish()
  .transform((text) => (text ? text : null))

const names = ['username', 'email'] as const

export const loginInput = z
  .strictObject({ username: identifier, email: identifier, password: passwordField, rememberMe: optionalFlag })
  .superRefine(
    ({ username, email }, context) => {
      if (username || email) return
      for (const name of names) {
        context.addIssue({ code: 'custom', path: [name], message: 'A username or an email is required.' })
      }
    },
    // Reported beside errors of other fields, but not if the body or the names are already refused.
    {
      when: ({ issues }) => !issues.some(({ path = [] }) => path.length === 0 || names.some((name) => name === path[0]))
    }
  )
export type LoginInput = z.output<typeof loginInput>

/** The input for an account that an operator creates. */
export const newAccountInput = z.object({
  email: emailField,
  displayName: nameField(100),
  firstName: optionalLine(100),
  lastName: optionalLine(100)
})
export type NewAccountInput = z.output<typeof newAccountInput>

const token = z.string().min(1).max(200)

/** The token of a link, with a password where the link needs one. */
export const tokenInput = z.strictObject({ token, password: passwordField.optional() })

export const emailInput = z.strictObject({ email: emailField })

export const resetPasswordInput = z.strictObject({ token, password: passwordField })

export const changePasswordInput = z.strictObject({ currentPassword: passwordField, newPassword: passwordField })
export type ChangePasswordInput = z.output<typeof changePasswordInput>

export const changeEmailInput = z.strictObject({ email: emailField, password: passwordField })
export type ChangeEmailInput = z.output<typeof changeEmailInput>

export const deleteAccountInput = z.strictObject({
  password: passwordField,
  despiteBalance: z.boolean().optional().meta({
    description:
      'True deletes the account of an affiliate whose balance is not zero. The commissions are not paid then.'
  })
})

/** A field of PATCH /me: unchanged if missing, cleared if null or empty. */
const clearable = (max: number) =>
  lineField(max)
    .nullable()
    .transform((text) => (text ? text : null))
    .optional()

export const profileInput = z.strictObject({
  displayName: nameField(100).optional(),
  firstName: clearable(100),
  lastName: clearable(100),
  billingEmail: z
    .union([emailField, z.literal(''), z.null()], { error: 'Must be an email address.' })
    .transform((text) => (text ? text : null))
    .optional(),
  billingPhone: clearable(40),
  companyName: clearable(100),
  marketingOptIn: z
    .boolean()
    .nullable()
    .transform((value) => value ?? false)
    .optional()
})
export type ProfileInput = z.output<typeof profileInput>
