import { assetPath } from '../../platform/package-root.ts'
import type { MailMessage } from '../../platform/mail/message.ts'
import { formatMoney } from '../../platform/money.ts'
import { openTemplates } from '../../platform/templates.ts'
import type { Templates } from '../../platform/templates.ts'
import type { ShopContext } from '../context.ts'
import { shopDay } from '../invoices/day.ts'
import { findOrder } from '../orders/find.ts'
import { setting } from '../settings/settings.ts'
import type { Email } from './email.ts'
import { emailParts, fill, findOverride, overrideName } from './overrides.ts'
import type { EmailPart } from './overrides.ts'
import { isObject } from '../../platform/typed.ts'

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
  const empty = { ...whole, opening: [], facts: [], table: null, action: null, also: null, blocks: [], closing: [] }
  const pieces: Record<string, object> = {
    content: whole,
    opening: { ...empty, opening: whole.opening },
    facts: { ...empty, facts: whole.facts },
    table: { ...empty, table: whole.table },
    button: { ...empty, action: whole.action },
    also: { ...empty, also: whole.also },
    details: { ...empty, blocks: whole.blocks },
    closing: { ...empty, closing: whole.closing }
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
export function orderValues({ db }: ShopContext, data: unknown): Record<string, string> {
  const orderId = isObject(data) ? data['orderId'] : undefined
  const order = typeof orderId === 'number' ? findOrder(db, orderId) : undefined
  if (order === undefined) return {}
  return {
    orderNumber: String(order.id),
    orderDate: shopDay(db, order.createdAt),
    orderTotal: formatMoney(order.totalMinor, order.currency)
  }
}

function viewOf({ db }: ShopContext, email: Email) {
  const { facts = [], table = null, action = null, also = null, blocks = [] } = email
  const shopName = setting(db, 'shop.name')
  return { ...email, facts, table, action, also, blocks, shopName, legal: setting(db, 'shop.legal') }
}
