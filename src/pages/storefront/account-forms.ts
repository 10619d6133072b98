import { ShopError } from '../../client/client.ts'
import type { Me, Order } from '../../client/api-types.ts'
import { ownPathOf } from './forms.ts'
import { money } from './money.ts'
import { orderStates } from './order-states.ts'
import type { Shown, Site, Visit } from './site.ts'

// The pages of people without script. With script, the pages of the same name do more.

type Errors = Readonly<Record<string, string[]>>

/** What a refusal says: errors at fields, and a message above the form if there are none. */
function refusalOf(error: unknown, password: string): { status: number; refused: Errors; error: string | null } {
  if (!(error instanceof ShopError) || error.code === 'NOT_AUTHENTICATED') throw error
  const { fieldErrors = {} } = error.details as { fieldErrors?: Errors }
  const refused = error.code === 'PASSWORD_POLICY_VIOLATION' ? { [password]: [error.message] } : fieldErrors
  const status = error.status === 0 ? 503 : error.status
  return { status, refused, error: Object.keys(refused).length === 0 ? error.message : null }
}

/** Creates an account without script, and logs in unless the email has to be verified first. */
export async function register(visit: Visit): Promise<Shown> {
  const { client, site, query } = visit
  const { t } = site
  const form = await visit.form()
  const text = (name: string): string => form.get(name) ?? ''
  const values = {
    displayName: text('displayName'),
    email: text('email'),
    // The API refuses the form without it.
    acceptTerms: form.has('acceptTerms') as true,
    marketingOptIn: form.has('marketingOptIn')
  }
  try {
    const { data, meta } = await client.request('POST', '/auth/register', {
      body: { ...values, password: text('password') }
    })
    if (meta.nextStep !== 'VERIFY_EMAIL') return { redirect: ownPathOf(query.get('next'), '/account') }
    return said(t('register.almost'), t('register.sent', { email: data.user.email }), {
      label: t('link.logIn'),
      url: '/login'
    })
  } catch (error) {
    const { status, ...refusal } = refusalOf(error, 'password')
    return { status, template: 'register', title: t('link.register'), data: { values, ...refusal } }
  }
}

/** Sends a link for a new password without script. */
export async function sendReset(visit: Visit): Promise<Shown> {
  const { client, site } = visit
  const { t } = site
  const email = (await visit.form()).get('email') ?? ''
  try {
    await client.post('/auth/forgot-password', { email })
    return said(t('forgot.check'), t('forgot.sent'), { label: t('forgot.back'), url: '/login' })
  } catch (error) {
    const { status, ...refusal } = refusalOf(error, 'password')
    return { status, template: 'forgot', title: t('forgot'), data: { email, ...refusal } }
  }
}

function said(title: string, text: string, link: { label: string; url: string }): Shown {
  return { template: 'message', title, data: { text, links: [link] } }
}

/** The account without script. */
export async function showAccount(visit: Visit): Promise<Shown> {
  const { t } = visit.site
  const done = visit.query.get('done')
  const notice = done === 'profile' ? t('saved') : done === 'password' ? t('passwordChanged') : null
  return accountPage(visit.site, await visit.client.get('/me'), { notice })
}

/** Changes the profile or the password, or logs out. */
export async function changeAccount(visit: Visit): Promise<Shown> {
  const { client } = visit
  const form = await visit.form()
  const action = form.get('action')
  if (action === 'logout') {
    await client.post('/auth/logout')
    return { redirect: '/' }
  }
  try {
    await (action === 'password' ? changePassword(visit, form) : changeProfile(visit, form))
    return { redirect: `/account/plain?done=${action === 'password' ? 'password' : 'profile'}` }
  } catch (error) {
    const refusal = refusalOf(error, 'newPassword')
    return accountPage(visit.site, await client.get('/me'), { ...refusal, typed: action === 'profile' ? form : null })
  }
}

async function changePassword({ client, site }: Visit, form: URLSearchParams): Promise<void> {
  const [currentPassword, newPassword] = [form.get('currentPassword') ?? '', form.get('newPassword') ?? '']
  try {
    await client.post('/auth/change-password', { currentPassword, newPassword })
  } catch (error) {
    if (!(error instanceof ShopError) || error.code !== 'AUTH_INVALID_CREDENTIALS') throw error
    const fieldErrors = { currentPassword: [site.t('wrongPassword')] }
    throw new ShopError(error.code, error.message, { status: 422, details: { fieldErrors } })
  }
}

async function changeProfile({ client }: Visit, form: URLSearchParams): Promise<void> {
  const optional = (name: string): string | null => form.get(name)?.trim() || null
  await client.patch('/me', {
    displayName: form.get('displayName') ?? '',
    firstName: optional('firstName'),
    lastName: optional('lastName'),
    marketingOptIn: form.has('marketingOptIn')
  })
}

type Said = { status?: number; refused?: Errors; error?: string | null; notice?: string | null }

function accountPage(
  site: Site,
  me: Me,
  { status = 200, typed, ...said }: Said & { typed?: URLSearchParams | null }
): Shown {
  const { user, profile, consent } = me
  const known = { displayName: user.displayName, firstName: profile.firstName, lastName: profile.lastName }
  const values = typed == null ? { ...known, ...consent } : Object.fromEntries(typed)
  return {
    status,
    template: 'plain-account',
    title: site.t('myAccount'),
    data: { notice: null, error: null, refused: {}, ...said, values, email: user.email, isSignedIn: true }
  }
}

/** A page of the buyer's orders without script. */
export async function showPlainOrders({ client, site, query }: Visit): Promise<Shown> {
  const sent = query.get('page') ?? ''
  const page = /^[1-9]\d{0,5}$/.test(sent) ? Number(sent) : 1
  const { orders, pagination } = await client.get('/orders', { query: { page, perPage: 20 } })
  const at = (number: number): string => `/orders/plain?page=${number}`
  const data = {
    isSignedIn: true,
    orders: orders.map((order) => toRow(order, site)),
    newer: page > 1 ? at(page - 1) : null,
    older: page < pagination.totalPages ? at(page + 1) : null
  }
  return { template: 'plain-orders', title: site.t('link.orders'), data }
}

function toRow({ id, status, total, createdAt }: Order, site: Site) {
  const day = new Intl.DateTimeFormat(site.language, { dateStyle: 'long', timeZone: 'UTC' })
  return {
    id,
    label: site.t(`state.${status}.label`),
    tone: orderStates[status].tone,
    total: money(total, site),
    day: day.format(new Date(createdAt))
  }
}

/** An order's own page, which needs no script. @throws ShopError NOT_FOUND */
export async function openPlainOrder({ client, param }: Visit): Promise<Shown> {
  const { order } = await client.get(`/orders/${Number(param)}`)
  return { redirect: `/checkout/done/${order.orderToken}` }
}
