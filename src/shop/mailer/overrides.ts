import { isUtf8 } from 'node:buffer'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { listFolder } from '../../platform/files.ts'
import type { MailTemplate } from '../mail/queue-mail.ts'
import { codeOf } from '../../platform/typed.ts'

/** The parts of an email that an operator can replace by a file. */
export type EmailPart = keyof typeof endings

const endings = { subject: '.subject.txt', text: '.txt', html: '.html' } as const
/** In the order in which a file's name is compared: `.subject.txt` ends in `.txt`, too. */
export const emailParts = ['subject', 'text', 'html'] as const satisfies EmailPart[]

const longestBytes = 200_000

/** The placeholders of every email, and those of emails about an order. */
const ofEvery = `subject shopName legal content opening facts table button also details closing link linkLabel`.split(
  ' '
)
const ofOrder = ['orderNumber', 'orderDate', 'orderTotal']
const showLink: ReadonlySet<string> = new Set(['content', 'button', 'link'])
/** The other values can have several lines. */
const ofSubject: ReadonlySet<string> = new Set(['subject', 'shopName', 'linkLabel', ...ofOrder])

/** What the shop needs to know of each template to check its overrides. */
const rules: Readonly<Record<MailTemplate, { order: boolean; link: boolean }>> = {
  verify_email: { order: false, link: true },
  reset_password: { order: false, link: true },
  confirm_email: { order: false, link: true },
  email_changed: { order: false, link: false },
  password_changed: { order: false, link: false },
  order_received: { order: true, link: false },
  order_receipt: { order: true, link: false },
  order_shipped: { order: true, link: false },
  payment_link: { order: true, link: true },
  payment_failed: { order: true, link: true },
  order_refunded: { order: true, link: false },
  refund_failed: { order: true, link: false },
  payment_reminder: { order: true, link: false },
  renewal_failed: { order: true, link: true },
  subscription_cancelled: { order: true, link: false },
  subscription_ended: { order: true, link: false },
  affiliate_decision: { order: false, link: false },
  shop_new_order: { order: true, link: false },
  shop_payment_warning: { order: false, link: false }
}

/** The folder of the templates that replace those of the shop. */
export function overrideFolder(dataDir: string): string {
  return join(dataDir, 'mail-templates')
}

/** The name of the file that replaces a part of an email, such as `order_receipt.subject.txt`. */
export function overrideName(template: string, part: EmailPart): string {
  return `${template}${endings[part]}`
}

export type Override = { text: string } | { problem: string }

/** The file that replaces a part of an email, or why it cannot; undefined without a file. It does not throw. */
export function findOverride(dataDir: string, template: string, part: EmailPart): Override | undefined {
  const file = join(overrideFolder(dataDir), overrideName(template, part))
  try {
    // The server reads it, so it must not wait for a pipe or read a device without an end.
    const stat = statSync(file)
    if (!stat.isFile()) return { problem: 'is not a file' }
    if (stat.size > longestBytes) return { problem: `is longer than ${longestBytes} bytes` }
    const bytes = readFileSync(file)
    if (!isUtf8(bytes)) return { problem: 'is not UTF-8 text' }
    const text = new TextDecoder().decode(bytes)
    const problem = Object.hasOwn(rules, template) ? problemOf(template as MailTemplate, part, text) : 'no such email'
    return problem === null ? { text: part === 'subject' ? text.trim() : text } : { problem }
  } catch (error) {
    const code = codeOf(error)
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : { problem: `cannot be read: ${code}` }
  }
}

/** Why a text cannot replace a part of an email; null if it can. */
function problemOf(template: MailTemplate, part: EmailPart, text: string): string | null {
  const { order, link } = rules[template]
  const known = new Set([...ofEvery, ...(order ? ofOrder : [])])
  const used = placeholdersIn(text)
  const unknown = used.find((name) => !known.has(name))
  if (text.trim() === '') return 'is empty'
  if (part === 'subject' && /\p{Cc}|\p{Zl}|\p{Zp}/u.test(text.trim())) return 'has more than one line'
  if (unknown !== undefined) return `has the unknown placeholder {{${unknown}}}`
  const unfit = part === 'subject' ? used.find((name) => !ofSubject.has(name)) : undefined
  if (unfit !== undefined) return `has the placeholder {{${unfit}}}, which a subject cannot have`
  if (/\{\{|\}\}/.test(fill(text, () => ''))) return 'has a placeholder that is not closed'
  if (part !== 'subject' && link && !used.some((name) => showLink.has(name)))
    return 'lacks the link: {{link}}, {{button}} or {{content}}'
  return null
}

const placeholder = /\{\{[ \t]*([^{}\s]{1,50})[ \t]*\}\}/g

function placeholdersIn(text: string): string[] {
  return [...text.matchAll(placeholder)].map(([, name = '']) => name)
}

/** The text with each placeholder replaced by its value. */
export function fill(text: string, valueOf: (name: string) => string): string {
  return text.replaceAll(placeholder, (_all, name: string) => valueOf(name))
}

/** Each visible file in the folder of templates, with the reason why it is not used, or null. */
export function listOverrides(dataDir: string): { name: string; problem: string | null }[] {
  return listFolder(overrideFolder(dataDir))
    .filter((name) => !name.startsWith('.'))
    .toSorted()
    .map((name) => {
      const part = emailParts.find((candidate) => name.endsWith(endings[candidate]))
      const template = part === undefined ? '' : name.slice(0, -endings[part].length)
      if (part === undefined || !Object.hasOwn(rules, template)) return { name, problem: 'has the name of no email' }
      const found = findOverride(dataDir, template, part) ?? { problem: 'is a link to a missing file' }
      return { name, problem: 'problem' in found ? found.problem : null }
    })
}
