import { AppError } from '../../errors.ts'
import { formatMoney } from '../../platform/money.ts'
import type { ShopContext } from '../context.ts'
import { shopDay } from '../invoices/day.ts'
import type { MailTemplate } from '../mail/queue.ts'
import { accountPageUrl, claimUrl, orderPageUrl } from '../settings/page-url.ts'
import { setting } from '../settings/settings.ts'
import { emailTemplates } from './compose.ts'
import type { Email } from './email.ts'
import { formatDay } from './email-times.ts'
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
  const total = formatMoney(3250, setting(shop.db, 'shop.currency'))
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
    closing: ['This is a preview with sample data.'],
    links: {}
  }
}

function orderParts({ db }: ShopContext, now: number): Pick<Email, 'facts' | 'table' | 'blocks'> {
  const money = (minor: number): string => formatMoney(minor, setting(db, 'shop.currency'))
  return {
    facts: [
      { label: 'Order number', value: orderNumber },
      { label: 'Order date', value: formatDay(now - day) }
    ],
    table: {
      lines: [
        { label: '2 × Storm lantern', amount: money(2000), picture: null },
        { label: '1 × Enamel mug', amount: money(1250), picture: null }
      ],
      sums: [{ label: 'Total', amount: money(3250) }]
    },
    blocks: [{ title: 'Shipping address', lines: ['Ada Quill', 'Quay 7', '20457 Hamburg'] }]
  }
}

/** What each email is about, in a sentence. */
function sampleOf(shop: ShopContext, template: MailTemplate): Sample {
  const name = setting(shop.db, 'shop.name')
  const order = `your order ${orderNumber} at ${name}`
  const view = { label: 'View your order', url: orderPageUrl(shop, 'emails.orderUrl', token) }
  const again = { label: 'Try again', url: orderPageUrl(shop, 'emails.payUrl', token) }
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
    order_shipped: { subject: `We have shipped ${order}`, opening: 'Your parcel is on its way.', action: view },
    payment_link: {
      subject: `How to pay ${order}`,
      opening: 'Please pay here.',
      action: { ...again, label: 'Pay the order' }
    },
    payment_failed: { subject: `The payment for ${order} failed`, opening: 'You were not charged.', action: again },
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
    affiliate_decision: { subject: `You are now an affiliate of ${name}`, opening: 'Your code is mira.' },
    shop_new_order: { subject: `[${name}] New order ${orderNumber}`, opening: `Order ${orderNumber} is paid.` },
    shop_payment_warning: { subject: `[${name}] A payment needs your attention`, opening: 'A buyer paid twice.' }
  }
  return samples[template]
}
