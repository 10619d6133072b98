import { isShopError } from '../../client/client.ts'
import type { Me, Affiliate, Download, Membership, OwnSubscription, Referral } from '../../client/client.ts'
import { fileLink, pathOf } from './order-card.ts'
import { dayText, isTextKey, money } from '../../platform/texts/languages.ts'
import { formView, outcomeOf, message } from './form-view.ts'
import type { Blank, Field, FormView, Known, Outcome } from './form-view.ts'
import type { AddressForm, Shown, ShownPage, Site, Visit } from './site.ts'
import type { Tone } from './order-card.ts'

/** The forms of the account, by the name that their button sends. */
type FormName = 'profile' | 'address' | 'password' | 'email' | 'delete' | 'subscriptions'
type Outcomes = Partial<Record<FormName, Outcome>>

/** The account: what belongs to the customer, and the forms that change it. */
export async function showAccount(visit: Visit): Promise<Shown> {
  return accountPage(visit, {})
}

/** What each action does, and the notice of the page that follows. The form has its name up to the dot. */
const actions = new Map<string, (visit: Visit, form: URLSearchParams) => Promise<string>>(
  Object.entries({
    profile: saveProfile,
    address: saveAddress,
    'address.remove': async ({ client }: Visit) => (
      await client.post('/me/address', { address: null }),
      'address.remove'
    ),
    password: changePassword,
    email: changeEmail,
    'email.again': async ({ client }: Visit) => (await client.post('/me/email-change/resend'), 'email.again'),
    'email.withdraw': async ({ client }: Visit) => (await client.post('/me/email-change/withdraw'), 'email.withdraw'),
    'subscriptions.end': async ({ client }: Visit, form: URLSearchParams) => {
      await client.post(`/me/subscriptions/${Number(form.get('id'))}/cancel`)
      return 'subscriptions.end'
    },
    'subscriptions.verify': sendVerification('subscriptions.verify'),
    'delete.verify': sendVerification('delete.verify')
  })
)

/** Does what the button of a form asks for. */
export async function changeAccount(visit: Visit): Promise<Shown> {
  const { client, site } = visit
  const form = await visit.form()
  const action = form.get('action') ?? ''
  if (action === 'logout') {
    await client.post('/auth/logout')
    return { redirect: '/' }
  }
  const [name = ''] = action.split('.')
  try {
    if (action === 'country')
      return await accountPage(visit, {}, await visit.addressForm(Object.fromEntries(form), false))
    if (action === 'delete' || action === 'delete.anyway') return await deleteAccount(visit, form)
    const done = await actions.get(action)?.(visit, form)
    return { redirect: done === undefined ? '/account' : `/account?done=${done}#on-${name}` }
  } catch (error) {
    const outcome = refusalOf(error, action, form, site)
    const address = action === 'address' ? await visit.addressForm(Object.fromEntries(form), true) : undefined
    return accountPage(visit, { [name]: outcome }, address)
  }
}

/** A wrong password is an error of its field. The API answers as to a failed login. */
function refusalOf(error: unknown, action: string, form: URLSearchParams, { t }: Site): Outcome {
  const outcome = outcomeOf(error, form, 'newPassword')
  const field = {
    password: 'currentPassword',
    email: 'password',
    delete: 'deletePassword',
    'delete.anyway': 'deletePassword'
  }[action]
  if (field !== undefined && isShopError(error, 'AUTH_INVALID_CREDENTIALS'))
    return { ...outcome, status: 422, refused: { [field]: [t('wrongPassword')] }, error: null }
  // Without a verified email, someone else could delete what was bought with it.
  if (action === 'delete' && isShopError(error, 'AUTH_EMAIL_NOT_VERIFIED')) {
    const remedy = { action: 'delete.verify', label: t('account.sendLink') }
    return { ...outcome, error: t('account.verifyFirst'), remedy }
  }
  if (action === 'delete' && isShopError(error, 'CONFLICT') && error.details.balance !== undefined) {
    const remedy = { action: 'delete.anyway', label: t('account.deleteAnyway') }
    return { ...outcome, error: t('account.openBalance'), remedy }
  }
  return outcome
}

async function saveProfile({ client }: Visit, form: URLSearchParams): Promise<string> {
  const optional = (name: string): string | null => form.get(name)?.trim() || null
  await client.patch('/me', {
    displayName: form.get('displayName') ?? '',
    firstName: optional('firstName'),
    lastName: optional('lastName'),
    companyName: optional('companyName'),
    billingEmail: optional('billingEmail'),
    billingPhone: optional('billingPhone'),
    marketingOptIn: form.has('marketingOptIn')
  })
  return 'profile'
}

async function saveAddress({ client }: Visit, form: URLSearchParams): Promise<string> {
  const part = (name: string): string => form.get(name) ?? ''
  await client.post('/me/address', {
    address: {
      country: part('country'),
      address1: part('address1'),
      address2: part('address2'),
      postcode: part('postcode'),
      city: part('city'),
      state: part('state')
    }
  })
  return 'address'
}

async function changePassword({ client }: Visit, form: URLSearchParams): Promise<string> {
  const [currentPassword, newPassword] = [form.get('currentPassword') ?? '', form.get('newPassword') ?? '']
  await client.post('/auth/change-password', { currentPassword, newPassword })
  return 'password'
}

/** The email changes at once if it only differs in case, and otherwise by the link that is sent to it. */
async function changeEmail({ client }: Visit, form: URLSearchParams): Promise<string> {
  await client.post('/auth/change-email', { email: form.get('email') ?? '', password: form.get('password') ?? '' })
  const { pending } = await client.get('/me/email-change')
  return pending === null ? 'email' : 'email.sent'
}

function sendVerification(done: string) {
  return async ({ client }: Visit): Promise<string> => {
    const { user } = await client.get('/me')
    await client.post('/auth/resend-verification', { email: user.email })
    return done
  }
}

async function deleteAccount({ client, site: { t } }: Visit, form: URLSearchParams): Promise<ShownPage> {
  await client.post('/me/delete', {
    password: form.get('deletePassword') ?? '',
    despiteBalance: form.get('action') === 'delete.anyway'
  })
  return message(t('account.deleted'), t('account.deletedText'), [{ label: t('link.shop'), url: '/' }])
}

/** What the page says after an action. */
function noticesOf({ t }: Site, user: string, pending: string | null): Readonly<Record<string, string>> {
  return {
    profile: t('saved'),
    address: t('account.addressSaved'),
    'address.remove': t('account.addressRemoved'),
    password: t('passwordChanged'),
    email: t('saved'),
    'email.sent': t('email.openLink', { email: pending ?? '' }),
    'email.again': t('email.sentAgain', { email: pending ?? '' }),
    'email.withdraw': t('email.withdrawn'),
    'subscriptions.end': t('subscription.ended'),
    'subscriptions.verify': t('account.verifySent'),
    'delete.verify': t('account.verifyThenDelete', { email: user })
  }
}

async function accountPage(visit: Visit, outcomes: Outcomes, typedAddress?: AddressForm): Promise<ShownPage> {
  const { client, site, query } = visit
  const { t } = site
  const [me, { downloads }, { subscriptions }, { address }, { pending, verified }] = await Promise.all([
    client.get('/me'),
    client.get('/me/downloads'),
    client.get('/me/subscriptions'),
    client.get('/me/address'),
    client.get('/me/email-change')
  ])
  const done = query.get('done') ?? ''
  const notice = new Map(Object.entries(noticesOf(site, me.user.email, pending?.email ?? null))).get(done)
  const [doneName = ''] = done.split('.')
  const outcomeFor = (name: FormName): Outcome =>
    outcomes[name] ?? (notice === undefined || name !== doneName ? {} : { notice })
  const form: FormOf = (name, blank, known) =>
    formView({ id: name, action: name, to: '/account', isQuiet: true, ...blank }, outcomeFor(name), known)
  return {
    status: Object.values(outcomes)[0]?.status ?? 200,
    template: 'account',
    title: t('myAccount'),
    data: {
      isSignedIn: true,
      user: me.user,
      ...benefitsOf({ me, downloads, subscriptions, ending: query.get('end') }, site),
      verified,
      subscriptionOutcome: outcomeFor('subscriptions'),
      profile: profileForm(me, site, form),
      address: addressPart(
        typedAddress ?? (await visit.addressForm({ ...address }, false)),
        address !== null,
        site,
        form
      ),
      password: form('password', {
        submit: t('changePassword'),
        rows: [
          [passwordField('currentPassword', t('currentPassword'), 'current-password')],
          [passwordField('newPassword', t('newPassword'), 'new-password')]
        ]
      }),
      pending: pending === null ? null : { email: pending.email, day: dayText(pending.expiresAt, site) },
      email: form('email', {
        submit: t('email.change'),
        rows: [
          [{ name: 'email', label: t('email.new'), type: 'email', autocomplete: 'email', required: true }],
          [passwordField('password', t('password'), 'current-password')]
        ]
      }),
      isLeaving: outcomes.delete !== undefined || doneName === 'delete',
      leave: form('delete', {
        submit: t('account.deleteButton'),
        rows: [[passwordField('deletePassword', t('account.yourPassword'), 'current-password')]]
      })
    }
  }
}

type FormOf = (name: FormName, blank: Omit<Blank, 'action'> & { action?: string }, known?: Known) => FormView

/** The address with which a checkout starts. The country decides about the other fields, so it is asked first. */
function addressPart(addressForm: AddressForm, isStored: boolean, { t }: Site, form: FormOf): FormView {
  const isKnown = addressForm.country !== null
  return form('address', {
    submit: t(isKnown ? 'account.saveAddress' : 'continue'),
    ...(isKnown ? {} : { action: 'country' }),
    rows: [],
    addressForm,
    others: isStored ? [{ action: 'address.remove', label: t('account.removeAddress') }] : []
  })
}

/** The name and contact data of the account, which a checkout and an invoice use. */
function profileForm({ user, profile, consent }: Me, { t }: Site, form: FormOf): FormView {
  const rows: Field[][] = [
    [{ name: 'displayName', label: t('displayName'), autocomplete: 'name', required: true }],
    [
      { name: 'firstName', label: t('firstName'), autocomplete: 'given-name' },
      { name: 'lastName', label: t('lastName'), autocomplete: 'family-name' }
    ],
    [{ name: 'companyName', label: t('account.company'), autocomplete: 'organization' }],
    [
      { name: 'billingEmail', label: t('account.billingEmail'), type: 'email', autocomplete: 'email' },
      { name: 'billingPhone', label: t('account.phone'), type: 'tel', autocomplete: 'tel' }
    ],
    [{ name: 'marketingOptIn', label: t('newsByEmail'), type: 'tick' }]
  ]
  const { displayName, companyName, billingEmail, billingPhone } = user
  const { marketingOptIn } = consent
  const known = { displayName, companyName, billingEmail, billingPhone, ...profile, marketingOptIn }
  return form('profile', { submit: t('save'), rows }, known)
}

function passwordField(name: string, label: string, autocomplete: string): Field {
  return { name, label, type: 'password', autocomplete, required: true }
}

type Status = (Membership | OwnSubscription | Affiliate | Referral)['status']

const tones: Readonly<Record<Status, Tone>> = {
  active: 'good',
  past_due: 'bad',
  cancelled: 'bad',
  expired: 'bad',
  pending: 'wait',
  unpaid: 'good',
  paid: 'good',
  inactive: 'wait',
  rejected: 'bad'
}

/** The word and the colour for the status of a membership, a subscription, an affiliate or a referral. */
export function statusOf(status: Status, { t }: Site): { label: string; tone: Tone } {
  return { label: t(`status.${status}`), tone: tones[status] }
}

/** `ending` is the id of the subscription that the page asks about before it ends. */
type Facts = { me: Me; downloads: Download[]; subscriptions: OwnSubscription[]; ending: string | null }

/** What belongs to a customer: roles, memberships, subscriptions, downloads and donations. */
export function benefitsOf({ me, downloads, subscriptions, ending }: Facts, site: Site) {
  const { t } = site
  const { memberships, donations } = me.entitlements
  return {
    roles: me.roles.serviceRoles.map((role) => {
      const key = `role.${role}`
      return isTextKey(key) ? t(key) : role
    }),
    memberships: memberships.map((membership) => membershipView(membership, site)),
    subscriptions: subscriptions.map((each) => subscriptionView(each, ending === String(each.id), site)),
    downloads: downloads.map((download) => fileLink(download, site)),
    donations: donations.donations.map(({ amount, currency, campaign, createdAt }) => ({
      amount: money(amount, site, currency),
      campaign: campaign === null ? '' : t('account.donationFor', { campaign }),
      note: dayText(createdAt, site)
    }))
  }
}

function membershipView({ planName, status, expiresAt, isPro }: Membership, site: Site) {
  const { t } = site
  const day = expiresAt === null ? '' : dayText(expiresAt, site)
  const until =
    expiresAt === null ? t('account.forLife') : t(status === 'active' ? 'account.until' : 'account.endedOn', { day })
  return { name: planName, status: statusOf(status, site), isPro, note: until }
}

function subscriptionView(subscription: OwnSubscription, isEnding: boolean, site: Site) {
  const { t } = site
  const { id, name, status, interval, amount, recurring, currency, currentPeriodEnd, canCancel, manageUrl } =
    subscription
  const price = t(`subscription.${interval}`, { amount: money(recurring?.amount ?? amount, site, currency) })
  const access =
    status === 'past_due' ? t('subscription.now') : t('subscription.access', { day: dayText(currentPeriodEnd, site) })
  return {
    id,
    name,
    status: statusOf(status, site),
    note: `${price}, ${nextOf(subscription, site)}`,
    manage: manageUrl === null ? null : pathOf(manageUrl),
    canCancel,
    question: isEnding && canCancel ? `${t('subscription.confirm')} ${access} ${t('subscription.noCharge')}` : null
  }
}

function nextOf({ status, nextPaymentAt, currentPeriodEnd }: OwnSubscription, site: Site): string {
  const { t } = site
  if (nextPaymentAt !== null) return t('subscription.next', { day: dayText(nextPaymentAt, site) })
  if (status === 'past_due') return t('subscription.unpaid')
  const day = dayText(currentPeriodEnd, site)
  return t(status === 'active' ? 'subscription.endsOn' : 'subscription.endedOn', { day })
}
