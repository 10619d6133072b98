import { assetPath } from '../../platform/package-root.ts'
import type { MailMessage } from '../../platform/mail/message.ts'
import { openTemplates } from '../../platform/templates.ts'
import type { Templates } from '../../platform/templates.ts'
import type { ShopContext } from '../context.ts'
import { shopDay } from '../settings/shop-days.ts'
import { findOrder } from '../orders/find.ts'
import { markdownHtml, markdownText } from '../../platform/markdown.ts'
import { wordsOf } from '../settings/language.ts'
import { lawLinks } from '../settings/law-pages.ts'
import { sellerText } from '../settings/seller.ts'
import { setting } from '../settings/settings.ts'
import type { Email } from './email.ts'
import { codeOf, isKeyOf, isObject } from '../../platform/typed.ts'
import { isUtf8 } from 'node:buffer'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { listFolder } from '../../platform/files.ts'
import type { MailTemplate } from '../mail/queue.ts'

/** The texts of an email. */
export type EmailTexts = Pick<MailMessage, 'subject' | 'text' | 'html'>

/** An email to render: its template, what it says, and the values of placeholders that only some emails have. */
export type Rendered = { template: string; email: Email; values: Readonly<Record<string, string>> }

/** The texts of an email, and the files of the operator that were used, or that could not be. */
export type RenderedEmail = EmailTexts & { used: string[]; problems: { name: string; problem: string }[] }

/** Opens the shop's own templates. */
export function openEmailTemplates(): Templates {
  return openTemplates(assetPath('shop', 'mailer', 'templates'))
}

/** The texts of an email with the templates of the shop. */
export function renderBuiltIn(shop: ShopContext, templates: Templates, email: Email): EmailTexts {
  const view = viewOf(shop, email)
  return {
    subject: email.subject,
    text: templates.text('email.text.eta', view),
    html: templates.html('email.html.eta', view)
  }
}

/**
 * The texts of an email, each with the file of the operator that replaces it (docs/contract.md 9.3). Instead of a file
 * that cannot be used, it has the text of the shop, so that no email is lost.
 */
export function renderEmail(shop: ShopContext, templates: Templates, rendered: Rendered): RenderedEmail {
  const result: RenderedEmail = { ...renderBuiltIn(shop, templates, rendered.email), used: [], problems: [] }
  for (const part of emailParts) {
    const found = findOverride(shop.config.dataDir, rendered.template, part)
    if (found === undefined) continue
    const name = overrideName(rendered.template, part)
    if ('problem' in found) result.problems.push({ name, problem: found.problem })
    else {
      result[part] = fill(found.text, valueOf(shop, templates, part, rendered))
      result.used.push(name)
    }
  }
  return result
}

/** The values of the placeholders in a part: pieces of the shop's own email, and short texts, escaped in HTML. */
function valueOf(
  shop: ShopContext,
  templates: Templates,
  part: EmailPart,
  { email, values }: Rendered
): (name: string) => string {
  const whole = viewOf(shop, email)
  const none = { opening: [], facts: [], blocks: [], closing: [], lawTexts: [] }
  const empty = { ...whole, ...none, table: null, action: null, also: null }
  const pieces: Record<string, object> = {
    content: whole,
    opening: { ...empty, opening: whole.opening },
    facts: { ...empty, facts: whole.facts },
    table: { ...empty, table: whole.table },
    button: { ...empty, action: whole.action },
    also: { ...empty, also: whole.also },
    details: { ...empty, blocks: whole.blocks },
    closing: { ...empty, closing: whole.closing },
    lawTexts: { ...empty, lawTexts: whole.lawTexts }
  }
  const texts: Record<string, string> = {
    subject: email.subject,
    shopName: whole.shopName,
    legal: whole.legal,
    link: whole.action?.url ?? '',
    linkLabel: whole.action?.label ?? '',
    ...values
  }
  const isHtml = part === 'html'
  return (name) => {
    const piece = pieces[name]
    if (piece !== undefined)
      return (isHtml ? templates.html('content.html.eta', piece) : templates.text('content.text.eta', piece)).trim()
    const text = texts[name] ?? ''
    return isHtml ? templates.html('lines.html.eta', { text }).trim() : text
  }
}

/** The values of an email about an order; none for another email. */
export function orderValues(shop: ShopContext, data: unknown): Record<string, string> {
  const { db } = shop
  const orderId = isObject(data) ? data['orderId'] : undefined
  const order = typeof orderId === 'number' ? findOrder(db, orderId) : undefined
  if (order === undefined) return {}
  return {
    orderNumber: String(order.id),
    orderDate: shopDay(db, order.createdAt),
    orderTotal: wordsOf(shop).money(order.totalMinor, order.currency)
  }
}

function viewOf(shop: ShopContext, email: Email) {
  const { db } = shop
  const words = wordsOf(shop)
  const { t, lang } = words
  const { facts = [], table = null, action = null, also = null, blocks = [] } = email
  const base = shop.publicUrl()
  const lawTexts = (email.lawTexts ?? []).map(({ title, language, markdown }) => ({
    title,
    language,
    html: markdownHtml(markdown, base),
    text: markdownText(markdown, base)
  }))
  const shown = { facts, table, action, also, blocks, lawTexts }
  const shopName = setting(db, 'shop.name')
  return { ...email, t, lang, ...shown, shopName, legal: sellerText(db, words), footLinks: lawLinks(shop, base) }
}

/** The parts of an email that an operator can replace by a file. */
export type EmailPart = keyof typeof endings

const endings = { subject: '.subject.txt', text: '.txt', html: '.html' } as const
/** In the order in which a file's name is compared: `.subject.txt` ends in `.txt`, too. */
export const emailParts = ['subject', 'text', 'html'] as const satisfies EmailPart[]

const longestBytes = 200_000

/** The placeholders of every email, and those of emails about an order. */
const ofEvery =
  `subject shopName legal content opening facts table button also details closing lawTexts link linkLabel`.split(' ')
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
  account_dormant: { order: false, link: false },
  password_changed: { order: false, link: false },
  order_received: { order: true, link: false },
  order_receipt: { order: true, link: false },
  claim_order: { order: true, link: true },
  end_subscription: { order: true, link: true },
  mailbox_code: { order: false, link: false },
  desk_invitation: { order: false, link: true },
  order_shipped: { order: true, link: false },
  payment_link: { order: true, link: true },
  payment_failed: { order: true, link: true },
  order_changed: { order: true, link: false },
  change_dropped: { order: true, link: false },
  return_expected: { order: true, link: false },
  order_refunded: { order: true, link: false },
  refund_failed: { order: true, link: false },
  payment_reminder: { order: true, link: false },
  renewal_failed: { order: true, link: true },
  subscription_cancelled: { order: true, link: false },
  subscription_ended: { order: true, link: false },
  declaration_received: { order: false, link: false },
  gift_card: { order: false, link: false },
  affiliate_decision: { order: false, link: false },
  affiliate_referrals: { order: false, link: false },
  affiliate_rate: { order: false, link: false },
  affiliate_bonus: { order: false, link: false },
  affiliate_payout: { order: false, link: false },
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
    const problem = isKeyOf(rules, template) ? problemOf(template, part, text) : 'no such email'
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
      if (part === undefined || !isKeyOf(rules, template)) return { name, problem: 'has the name of no email' }
      const found = findOverride(dataDir, template, part) ?? { problem: 'is a link to a missing file' }
      return { name, problem: 'problem' in found ? found.problem : null }
    })
}
