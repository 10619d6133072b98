/** A decline, with the fields of a card_error (docs.stripe.com/declines/codes); `blocked` is Radar's, not the bank's. */
export type Decline = {
  code: string
  decline_code?: string
  message: string
  param?: string
  advice_code?: string
  blocked?: true
}

/** How a test card behaves. The names are Stripe's without `pm_card_` or `tok_` (docs.stripe.com/testing). */
export type TestCard = {
  brand: string
  last4: string
  country: string
  funding: 'credit' | 'debit' | 'prepaid'
  decline?: Decline
  /** The bank requires 3-D Secure authentication. */
  challenge?: true
  /** The payment is `processing` at first, and then ends with this status. */
  settlesAs?: 'succeeded' | 'failed'
  dispute?: { reason: string; inquiry?: true }
  refund?: 'pending' | 'failed'
  elevatedRisk?: true
}

const visa = { brand: 'visa', last4: '4242', country: 'US', funding: 'credit' } as const
const generic = 'Your card was declined.'

const declines: Readonly<Record<string, Decline>> = {
  '': { code: 'card_declined', decline_code: 'generic_decline', message: generic, advice_code: 'try_again_later' },
  InsufficientFunds: {
    code: 'card_declined',
    decline_code: 'insufficient_funds',
    message: 'Your card has insufficient funds.',
    advice_code: 'try_again_later'
  },
  LostCard: { code: 'card_declined', decline_code: 'lost_card', message: generic, advice_code: 'do_not_try_again' },
  StolenCard: { code: 'card_declined', decline_code: 'stolen_card', message: generic, advice_code: 'do_not_try_again' },
  Fraudulent: { code: 'card_declined', decline_code: 'fraudulent', message: generic, blocked: true },
  VelocityLimitExceeded: {
    code: 'card_declined',
    decline_code: 'card_velocity_exceeded',
    message: 'Your card was declined for making repeated attempts too frequently or exceeding its amount limit.'
  },
  ExpiredCard: {
    code: 'expired_card',
    decline_code: 'expired_card',
    message: 'Your card has expired.',
    param: 'exp_month',
    advice_code: 'confirm_card_data'
  },
  IncorrectCvc: {
    code: 'incorrect_cvc',
    decline_code: 'incorrect_cvc',
    message: "Your card's security code is incorrect.",
    param: 'cvc',
    advice_code: 'confirm_card_data'
  },
  ProcessingError: {
    code: 'processing_error',
    decline_code: 'processing_error',
    message: 'An error occurred while processing your card. Try again in a little bit.',
    advice_code: 'try_again_later'
  }
}

const last4OfDecline: Readonly<Record<string, string>> = {
  '': '0002',
  InsufficientFunds: '9995',
  LostCard: '9987',
  StolenCard: '9979',
  Fraudulent: '0019',
  VelocityLimitExceeded: '6975',
  ExpiredCard: '0069',
  IncorrectCvc: '0127',
  ProcessingError: '0119'
}

const challenged = { ...visa, last4: '3220', country: 'IE', challenge: true } as const

const named: Readonly<Record<string, TestCard>> = {
  visa,
  visa_debit: { ...visa, last4: '5556', funding: 'debit' },
  mastercard: { ...visa, brand: 'mastercard', last4: '4444' },
  mastercard_debit: { ...visa, brand: 'mastercard', last4: '8210', funding: 'debit' },
  mastercard_prepaid: { ...visa, brand: 'mastercard', last4: '5100', funding: 'prepaid' },
  amex: { ...visa, brand: 'amex', last4: '0005' },
  discover: { ...visa, brand: 'discover', last4: '1117' },
  diners: { ...visa, brand: 'diners', last4: '0004' },
  jcb: { ...visa, brand: 'jcb', last4: '0505', country: 'JP' },
  unionpay: { ...visa, brand: 'unionpay', last4: '0005', country: 'CN' },
  chargeCustomerFail: { ...visa, last4: '0341', decline: decline('') },
  radarBlock: { ...visa, last4: '4954', decline: decline('Fraudulent') },
  riskLevelHighest: { ...visa, last4: '4954', decline: decline('Fraudulent') },
  riskLevelElevated: { ...visa, last4: '9235', elevatedRisk: true },
  cvcCheckFail: { ...visa, last4: '0101' },
  avsFail: { ...visa, last4: '0010' },
  avsLine1Fail: { ...visa, last4: '0028' },
  avsZipFail: { ...visa, last4: '0036' },
  avsUnchecked: { ...visa, last4: '0044' },
  bypassPending: { ...visa, last4: '0077' },
  bypassPendingInternational: { ...visa, last4: '3720' },
  domesticPricing: { ...visa, last4: '0093' },
  threeDSecureOptional: { ...visa, last4: '3055' },
  threeDSecureOptionalProcessingError: { ...visa, last4: '3097' },
  amex_threeDSecureNotSupported: { ...visa, brand: 'amex', last4: '0005' },
  threeDSecureRequired: challenged,
  threeDSecure2Required: challenged,
  threeDSecureRequiredChargeDeclined: { ...challenged, last4: '1629', decline: decline('') },
  threeDSecureRequiredProcessingError: { ...challenged, last4: '1280', decline: decline('ProcessingError') },
  authenticationRequired: { ...challenged, last4: '3184' },
  authenticationRequiredOnSetup: { ...challenged, last4: '3155' },
  authenticationRequiredSetupForOffSession: { ...challenged, last4: '3155' },
  authenticationRequiredChargeDeclinedInsufficientFunds: {
    ...challenged,
    last4: '8260',
    decline: decline('InsufficientFunds')
  },
  createDispute: { ...visa, last4: '0259', dispute: { reason: 'fraudulent' } },
  createDisputeProductNotReceived: { ...visa, last4: '2685', dispute: { reason: 'product_not_received' } },
  createDisputeInquiry: { ...visa, last4: '1976', dispute: { reason: 'fraudulent', inquiry: true } },
  pendingRefund: { ...visa, last4: '7726', refund: 'pending' },
  refundFail: { ...visa, last4: '5126', refund: 'failed' },
  sandbox_processing: { ...visa, last4: '4242', settlesAs: 'succeeded' },
  sandbox_processing_fail: { ...visa, last4: '4242', settlesAs: 'failed' }
}

const countries = new Set(
  (
    'ae ar at au be bg br by ca ch cl cn co cr cy cz de dk ec ee es fi fr gb gi gr hk hr hu ie in it jp li lt lu lv mt mx ' +
    'my nl no nz pa pe pl pt py ro sa se sg si sk th tw us uy'
  ).split(' ')
)

/**
 * The card of a test id: Stripe's published names `pm_card_…` and `tok_…`, and the sandbox's own
 * `pm_sandbox_decline_<decline_code>`, `pm_sandbox_code_<code>` and `pm_sandbox_processing[_fail]`.
 */
export function findTestCard(id: string): { name: string; card: TestCard } | undefined {
  const name = /^(?:pm_card_|tok_|pm_(?=sandbox_))(\w{1,100})$/.exec(id)?.[1]
  const card = name === undefined ? undefined : cardNamed(name)
  return name !== undefined && card ? { name, card } : undefined
}

/** The card of a name without prefix, such as `visa` or `sandbox_processing`. */
export function cardNamed(name: string): TestCard | undefined {
  if (Object.hasOwn(named, name)) return named[name]
  const declined = /^(?:visa_)?chargeDeclined(\w*)$/.exec(name)?.[1]
  if (declined !== undefined && Object.hasOwn(declines, declined)) {
    return { ...visa, last4: last4OfDecline[declined] ?? '0002', decline: decline(declined) }
  }
  const own = /^sandbox_(decline|code)_([a-z0-9_]{1,60})$/.exec(name)
  if (own?.[2]) return { ...visa, last4: '0002', decline: ownDecline(own[1] === 'code', own[2]) }
  const country = /^([a-z]{2})(?:_(debit|credit|mastercard))?$/.exec(name)
  if (!country?.[1] || !countries.has(country[1])) return undefined
  return {
    ...visa,
    brand: country[2] === 'mastercard' ? 'mastercard' : 'visa',
    funding: country[2] === 'debit' ? 'debit' : 'credit',
    country: country[1].toUpperCase()
  }
}

function decline(name: string): Decline {
  return declines[name] ?? { code: 'card_declined', message: generic }
}

function ownDecline(isCode: boolean, value: string): Decline {
  return isCode ? { code: value, message: generic } : { code: 'card_declined', decline_code: value, message: generic }
}

/** The payment methods on the hosted page, each with its result. */
export const offeredCards: readonly (readonly [id: string, label: string])[] = [
  ['pm_card_visa', 'Visa: succeeds'],
  ['pm_card_mastercard', 'Mastercard: succeeds'],
  ['pm_card_visa_chargeDeclined', 'Declined'],
  ['pm_card_visa_chargeDeclinedInsufficientFunds', 'Declined: insufficient funds'],
  ['pm_card_visa_chargeDeclinedLostCard', 'Declined: lost card'],
  ['pm_card_visa_chargeDeclinedStolenCard', 'Declined: stolen card'],
  ['pm_card_chargeDeclinedExpiredCard', 'Declined: expired card'],
  ['pm_card_chargeDeclinedIncorrectCvc', 'Declined: incorrect security code'],
  ['pm_card_chargeDeclinedProcessingError', 'Declined: processing error'],
  ['pm_card_radarBlock', 'Blocked as fraud'],
  ['pm_card_threeDSecure2Required', '3-D Secure: requires authentication'],
  ['pm_card_threeDSecureRequiredChargeDeclined', '3-D Secure, then declined'],
  ['pm_sandbox_processing', 'Succeeds after a delay'],
  ['pm_sandbox_processing_fail', 'Fails after a delay'],
  ['pm_card_createDispute', 'Succeeds, then is disputed']
]
