import { AppError } from '../../errors.ts'
import { hmac, sameBytes } from '../../platform/crypto/secrets.ts'
import type { Keys } from '../../platform/crypto/secrets.ts'
import { readLink, signLink } from '../../platform/crypto/signed-link.ts'
import { writeWhenFree } from '../../platform/db/database.ts'
import { ownCookie } from '../../platform/http/cookies.ts'
import { emailKey } from '../../platform/text.ts'
import type { ShopContext } from '../context.ts'
import { runCountingFailures } from '../limits/counted-attempts.ts'
import { emailCounterKey, takeRecoveryPoints } from '../limits/points.ts'
import { queueMail } from '../mail/queue.ts'

// A code in an email proves to the shop that a browser reads a mailbox. It starts no session and changes no account. Codes
// and proofs are derived, so a stranger who asks for them makes the shop write nothing but the email.

/** A code works in the window in which it was composed, and in the next one. */
const windowMs = 15 * 60_000
/** How long a browser counts as the owner's after a right code. */
const proofLifeMs = 24 * 60 * 60_000
const digits = 8

type EmailKey = Pick<Keys, 'emailToken'>

/** The code that an email composed at `now` contains. */
export function mailboxCode(keys: EmailKey, email: string, now: number): string {
  return codeOf(keys, email, Math.floor(now / windowMs))
}

function codeOf(keys: EmailKey, email: string, window: number): string {
  const bytes = hmac(keys.emailToken, JSON.stringify(['mailbox code', emailKey(email), window]))
  return String(bytes.readUIntBE(0, 6) % 10 ** digits).padStart(digits, '0')
}

/**
 * Sends a code to an email. The answer is the same for every email.
 *
 * @throws AppError RATE_LIMITED (recovery_ip, recovery_email)
 */
export async function sendMailboxCode(
  shop: ShopContext,
  email: string,
  { addressKey, now }: { addressKey: string; now: number }
): Promise<void> {
  await takeRecoveryPoints(shop, addressKey, emailKey(email))
  const data = shop.language === undefined ? {} : { language: shop.language }
  await writeWhenFree(shop.db, (tx) => queueMail(tx, { template: 'mailbox_code', recipient: email, data }, now))
}

/**
 * Checks a code and returns a cookie that proves the mailbox for a day. Spaces in the code do not matter.
 *
 * @throws AppError TOKEN_INVALID; AUTH_RATE_LIMITED (token_ip, code_email) after too many wrong codes
 */
export async function proveMailbox(
  shop: ShopContext,
  { email, code }: { email: string; code: string },
  { addressKey, now }: { addressKey: string; now: number }
): Promise<string> {
  const counters = [
    { bucket: 'token_ip', key: addressKey },
    { bucket: 'code_email', key: emailCounterKey(emailKey(email)) }
  ] as const
  const { failed } = await runCountingFailures(shop, counters, () =>
    Promise.resolve({ failed: !isCode(shop.keys, email, code, now) })
  )
  if (failed) throw new AppError('TOKEN_INVALID', 'This code is wrong or has expired.')
  const proof = signLink(shop.keys.emailToken, { id: 1, expiresAt: now + proofLifeMs }, subjectOf(emailKey(email)))
  return ownCookie(shop, 'mailbox', proof, proofLifeMs / 1000)
}

function isCode(keys: EmailKey, email: string, code: string, now: number): boolean {
  const window = Math.floor(now / windowMs)
  const typed = Buffer.from(code.replaceAll(/\s/g, ''))
  return [window, window - 1].some((each) => sameBytes(typed, Buffer.from(codeOf(keys, email, each))))
}

/** Whether the value of the cookie proves the mailbox with this email key. */
export function provesMailbox(keys: EmailKey, proof: string, key: string, now: number): boolean {
  const link = readLink(proof)
  return link !== undefined && link.expiresAt > now && link.isSigned(keys.emailToken, subjectOf(key))
}

function subjectOf(key: string): string {
  return `mailbox ${key}`
}
