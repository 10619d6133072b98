import { AppError } from '../../errors.ts'
import type { ShopContext } from '../context.ts'
import { shopDay } from '../settings/shop-days.ts'
import type { MailTemplate } from '../mail/queue.ts'
import { accountPageUrl, claimUrl, endSubscriptionUrl, orderPageUrl } from '../settings/page-url.ts'
import { invitationUrl } from '../desk/people.ts'
import { statementUrls } from '../payouts/statement.ts'
import { setting } from '../settings/settings.ts'
import { emailTemplates } from './compose.ts'
import type { Email } from './email.ts'
import { summaryKinds, toRows } from '../orders/totals.ts'
import type { SummaryPart } from '../orders/totals.ts'
import { rateLabel } from '../tax/terms.ts'
import { wordsOf } from '../settings/language.ts'
import { openEmailTemplates, renderEmail } from './render.ts'
import type { RenderedEmail } from './render.ts'

type Sample = { subject: string; opening: string; action?: Email['action'] }

const orderNumber = '1042'
const token = 'a-sample-token'
const day = 24 * 60 * 60_000

/**
 * An email of a template with sample data, as the shop would send it with the operator's files and settings. It sends
 * nothing.
 *
 * @throws AppError NOT_FOUND for an unknown template
 */
export function previewEmail(shop: ShopContext, template: string, now: number): RenderedEmail {
  if (!isTemplate(template))
    throw new AppError('NOT_FOUND', `There is no email "${template}". There are: ${emailTemplates.join(', ')}.`)
  const email = sampleEmail(shop, template, now)
  const total = wordsOf(shop).money(totalOf(shop), setting(shop.db, 'shop.currency'))
  const values = { orderNumber, orderDate: shopDay(shop.db, now), orderTotal: total }
  return renderEmail(shop, openEmailTemplates(), { template, email, values })
}

function isTemplate(name: string): name is MailTemplate {
  return emailTemplates.includes(name)
}

function sampleEmail(shop: ShopContext, template: MailTemplate, now: number): Email {
  const { subject, opening, action } = sampleOf(shop, template)
  const isOrder = subject.includes(orderNumber)
  return {
    subject,
    opening: [opening],
    ...(action === undefined ? {} : { action }),
    ...(isOrder ? orderParts(shop, now) : {}),
    closing: [wordsOf(shop).t('mail.preview')],
    links: {}
  }
}

function orderParts(shop: ShopContext, now: number): Pick<Email, 'facts' | 'table' | 'blocks'> {
  const words = wordsOf(shop)
  const { t } = words
  const money = (minor: number): string => words.money(minor, setting(shop.db, 'shop.currency'))
  return {
    facts: [
      { label: t('mail.orderNumber'), value: orderNumber },
      { label: t('mail.orderDate'), value: words.day(now - day) }
    ],
    table: {
      lines: [
        { label: '2 × Storm lantern', amount: money(2000), picture: null },
        { label: '1 × Enamel mug', amount: money(1250), picture: null }
      ],
      sums: toRows(sampleParts(shop), setting(shop.db, 'shop.currency'), words)
    },
    blocks: [{ title: t('mail.shippingAddress'), lines: ['Ada Quill', 'Quay 7', '20457 Hamburg'] }]
  }
}

/** The subtotal less the discounts, with shipping and, where prices do not include it, tax. */
function totalOf(shop: ShopContext): number {
  return setting(shop.db, 'tax.pricesIncludeTax') ? 3315 : 3945
}

/**
 * Every kind of sum, so that the operator sees how their templates and their mail program show each. A type of sum without
 * a sample does not compile.
 */
function sampleParts(shop: ShopContext): SummaryPart[] {
  const rate = rateLabel({ category: 'taxed', name: 'VAT', rateMillionths: 190_000 }, wordsOf(shop))
  const included = setting(shop.db, 'tax.pricesIncludeTax')
  const parts: Readonly<Record<SummaryPart['kind'], Omit<SummaryPart, 'kind'>>> = {
    subtotal: { name: '', amountMinor: 3250 },
    coupon: { name: 'WELCOME10', amountMinor: -325 },
    discount: { name: '', amountMinor: -100 },
    shipping: { name: 'Parcel', amountMinor: 490 },
    pickup: { name: 'Pickup', amountMinor: 0 },
    tax: { name: rate, amountMinor: 630 },
    total: { name: '', amountMinor: totalOf(shop) },
    taxIncluded: { name: rate, amountMinor: 529 },
    credit: { name: '1041', amountMinor: -1000 },
    giftCard: { name: 'PQRS', amountMinor: -500 },
    due: { name: '', amountMinor: totalOf(shop) - 1500 },
    paid: { name: '', amountMinor: 0 }
  }
  // The taxes of an order are included in all of its prices or in none, and what is due is not paid.
  const others = new Set<SummaryPart['kind']>([included ? 'tax' : 'taxIncluded', 'paid'])
  return summaryKinds.flatMap((kind) => (others.has(kind) ? [] : [{ kind, ...parts[kind] }]))
}

/** What each email is about, in a sentence. */
function sampleOf(shop: ShopContext, template: MailTemplate): Sample {
  const name = setting(shop.db, 'shop.name')
  const order = `your order ${orderNumber} at ${name}`
  const view = { label: wordsOf(shop).t('mail.viewOrder'), url: orderPageUrl(shop, 'emails.orderUrl', token) }
  const again = { label: wordsOf(shop).t('mail.tryAgain'), url: orderPageUrl(shop, 'emails.payUrl', token) }
  const account = (page: Parameters<typeof accountPageUrl>[1], label: string) => ({
    label,
    url: accountPageUrl(shop, page, token)
  })
  const samples: Readonly<Record<MailTemplate, Sample>> = {
    verify_email: {
      subject: `Please verify your email for ${name}`,
      opening: 'Please confirm that the address is yours.',
      action: account('emails.verifyUrl', 'Verify my email')
    },
    reset_password: {
      subject: `Choose a new password for ${name}`,
      opening: 'We received a request to reset your password.',
      action: account('emails.resetUrl', 'Choose a new password')
    },
    confirm_email: {
      subject: `Please confirm your new email for ${name}`,
      opening: 'Please confirm that the address is yours.',
      action: account('emails.newEmailUrl', 'Use this email')
    },
    email_changed: { subject: `Your email for ${name} was changed`, opening: 'Your account has another email now.' },
    account_dormant: {
      subject: `Your account at ${name} will be deleted`,
      opening: 'You have not used your account for a long time.'
    },
    password_changed: { subject: `Your password for ${name} was changed`, opening: 'Your password was changed.' },
    order_received: { subject: `We have received ${order}`, opening: 'Please pay the total.', action: view },
    order_receipt: { subject: `Thank you for ${order}`, opening: 'We have received your payment.', action: view },
    claim_order: {
      subject: `Open an account for ${order}`,
      opening: 'You need an account for what you bought.',
      action: { label: 'Open my account', url: claimUrl(shop, token) }
    },
    end_subscription: {
      subject: `End the subscription of ${order}`,
      opening: 'Open this link to end your subscription.',
      action: { label: 'End my subscription', url: endSubscriptionUrl(shop, token) }
    },
    mailbox_code: { subject: `12345678 is your code for ${name}`, opening: 'Enter this code: 12345678' },
    order_shipped: { subject: `We have shipped ${order}`, opening: 'Your parcel is on its way.', action: view },
    payment_link: {
      subject: `How to pay ${order}`,
      opening: 'Please pay here.',
      action: { ...again, label: 'Pay the order' }
    },
    payment_failed: { subject: `The payment for ${order} failed`, opening: 'You were not charged.', action: again },
    order_changed: { subject: `We have changed ${order}`, opening: 'The new address is Quay 8.', action: view },
    change_dropped: { subject: `The change of ${order} is off`, opening: 'Your order stays as it was.', action: view },
    return_expected: { subject: `Return of ${order}`, opening: 'Please send the goods back.', action: view },
    order_refunded: { subject: `Refund for ${order}`, opening: 'We have sent the money back.', action: view },
    refund_failed: { subject: `Refund for ${order} failed`, opening: 'Your bank returned the money.', action: view },
    payment_reminder: { subject: `We wait for the payment of ${order}`, opening: 'Please pay it.', action: view },
    renewal_failed: { subject: `A renewal of ${order} failed`, opening: 'We could not charge you.', action: again },
    subscription_cancelled: {
      subject: `The subscription of ${order} is cancelled`,
      opening: 'You will not be charged again.'
    },
    subscription_ended: {
      subject: `The subscription of ${order} has ended`,
      opening: 'You will not be charged again.'
    },
    declaration_received: {
      subject: `We have received your withdrawal from ${order}`,
      opening: 'We have received your withdrawal.'
    },
    gift_card: { subject: `A gift card for ${name}`, opening: 'The code is 0123-4567-89ABC-DEFGH-JKMN-PQRS.' },
    affiliate_decision: { subject: `You are now an affiliate of ${name}`, opening: 'Your code is mira.' },
    affiliate_rate: {
      subject: `Your commission rate at ${name}`,
      opening: 'From 1 January 2027 on, your rate is 12.5 %.'
    },
    affiliate_referrals: { subject: `Your referrals at ${name}`, opening: 'We have accepted these referrals.' },
    affiliate_bonus: { subject: `A commission from ${name}`, opening: 'We have added an amount.' },
    affiliate_payout: {
      subject: `Your payout from ${name}`,
      opening: 'We have paid your commissions.',
      action: { label: wordsOf(shop).t('mail.payout.button'), url: statementUrls(shop, { id: 1, createdAt: 0 }).pdfUrl }
    },
    desk_invitation: {
      subject: `Your access to the desk of ${name}`,
      opening: 'Make a passkey to log in.',
      action: { label: 'Make a passkey', url: invitationUrl(shop, token) }
    },
    shop_new_order: { subject: `[${name}] New order ${orderNumber}`, opening: `Order ${orderNumber} is paid.` },
    shop_payment_warning: { subject: `[${name}] A payment needs your attention`, opening: 'A buyer paid twice.' }
  }
  return samples[template]
}
