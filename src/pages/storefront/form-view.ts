import { ShopError } from '../../client/client.ts'
import type { AddressForm, ShownPage, Site } from './site.ts'

/** A field of a form. `tick` is a checkbox, `long` has several lines, and `file` takes a picture. */
export type Field = {
  name: string
  label: string
  type?: 'text' | 'email' | 'password' | 'tel' | 'url' | 'tick' | 'long' | 'date' | 'file'
  autocomplete?: string
  required?: boolean
  hint?: string
  /** The action that a change of the field sends, on a page with a script. */
  refreshes?: string
  /** What to choose from; `choose` stands for nothing chosen. */
  options?: readonly { value: string; label: string }[]
  choose?: string
}

/** A field as field.eta shows it. */
export type FieldView = Field & { value: Value; errors: readonly string[] | undefined; focus: boolean }

export type FieldErrors = Readonly<Record<string, readonly string[]>>

type Button = { action: string; label: string }

/** What became of a form that was sent. `remedy` is another button, which helps after the error. */
export type Outcome = {
  status?: number
  typed?: Readonly<Record<string, string>>
  refused?: FieldErrors
  error?: string | null
  notice?: string | null
  remedy?: Button | null
}

type Value = string | boolean | null | undefined
export type Known = Readonly<Record<string, Value>>

/** A form before anyone used it. `rows` has a list of fields for each line; its button sends `action`. */
export type Blank = {
  id?: string
  action: string
  submit: string
  rows: readonly (readonly Field[])[]
  /** The address of the form, if it is not that of the page. */
  to?: string
  hidden?: Readonly<Record<string, string>>
  isQuiet?: boolean
  /** Whether a field takes a file. */
  hasFile?: boolean
  others?: readonly Button[]
  addressForm?: AddressForm
}

/** A form as form.eta shows it. */
export type FormView = Omit<Blank, 'rows'> & {
  rows: FieldView[][]
  /** The field of the address that has the focus. */
  focus: string | null
  error: string | null
  notice: string | null
}

/**
 * A form with what is known, or with what was typed when it was refused. A password is never shown again. The first wrong
 * field has the focus.
 */
export function formView(
  { rows, others = [], ...blank }: Blank,
  { typed, refused = {}, error = null, notice = null, remedy = null }: Outcome,
  known: Known = {}
): FormView {
  const wrong = rows.flat().find(({ name }) => refused[name] !== undefined)
  const valueOf = ({ name, type }: Field) => {
    if (type === 'password' || type === 'file') return ''
    if (typed === undefined) return known[name]
    return type === 'tick' ? typed[name] !== undefined : typed[name]
  }
  const view = (field: Field) => ({
    ...field,
    value: valueOf(field),
    errors: refused[field.name],
    focus: field === wrong
  })
  const buttons = remedy === null ? others : [...others, remedy]
  const focus = wrong === undefined ? (Object.keys(refused)[0] ?? null) : null
  return { ...blank, rows: rows.map((row) => row.map(view)), others: buttons, focus, error, notice }
}

type Refusal = Required<Pick<Outcome, 'status' | 'typed' | 'refused' | 'error'>>

/**
 * What a refusal by the API says: errors at fields, and a message above the form if it has none.
 *
 * @param password the field of a new password, for a refusal by the policy of passwords
 * @throws any other error, and the refusal of a visitor who is not logged in
 */
export function outcomeOf(error: unknown, typed: URLSearchParams, password = 'password'): Refusal {
  if (!(error instanceof ShopError) || error.code === 'NOT_AUTHENTICATED') throw error
  const refused =
    error.code === 'PASSWORD_POLICY_VIOLATION'
      ? { [password]: [error.message] }
      : error.is('VALIDATION_FAILED')
        ? byField(error.details.fieldErrors)
        : {}
  return {
    status: error.status === 0 ? 503 : error.status,
    typed: Object.fromEntries(typed),
    refused,
    error: Object.keys(refused).length === 0 ? error.message : null
  }
}

/** The errors by the names of fields; the API names them by their path, such as `address.city`. */
function byField(errors: FieldErrors): FieldErrors {
  return Object.fromEntries(Object.entries(errors).map(([path, messages]) => [path.split('.').at(-1), messages]))
}

/** A page with one form. */
export function sheet(
  status: number,
  title: string,
  data: { text: string | null; form: FormView; links: readonly { label: string; url: string }[] }
): ShownPage {
  return { status, template: 'sheet', title, data }
}

/** A page with a message, and where it leads on. */
export function message(
  title: string,
  text: string,
  links: readonly { label: string; url: string }[],
  status = 200
): ShownPage {
  return { status, template: 'message', title, data: { text, links } }
}

type Typed = {
  values: Readonly<Record<string, string | undefined>>
  errors: Readonly<Record<string, readonly string[] | undefined>>
  focus: string | null
}

/** The fields of a checkout besides the address, in the cart and on the payment page. `coupon` is the name of that field. */
export function checkoutFields(
  { t, minLength }: Site,
  { values, errors, focus }: Typed,
  { coupon, refreshes, isNameRequired }: { coupon: string; refreshes?: string; isNameRequired: boolean }
) {
  const view = (name: string, label: string, field: Omit<Field, 'name' | 'label'> = {}): FieldView => ({
    name,
    label,
    ...field,
    value: field.type === 'password' ? '' : values[name],
    errors: errors[name],
    focus: name === focus
  })
  const refreshing = refreshes === undefined ? {} : { refreshes }
  const optional = (label: string): string => t('optional', { label })
  // A company or a person with one name has no first name. Without any, goods cannot be delivered.
  const lastName = isNameRequired ? t('lastNameOrCompany') : optional(t('lastName'))
  const newPassword = {
    type: 'password',
    autocomplete: 'new-password',
    hint: t('atLeast', { count: minLength })
  } as const
  return {
    email: view('email', t('receiptEmail'), { type: 'email', autocomplete: 'email', required: true }),
    firstName: view('firstName', isNameRequired ? t('firstName') : optional(t('firstName')), {
      autocomplete: 'given-name'
    }),
    lastName: view('lastName', lastName, { autocomplete: 'family-name', required: isNameRequired }),
    password: view('password', t('password'), newPassword),
    emailCode: view('emailCode', t('prove.code'), { autocomplete: 'one-time-code' }),
    coupon: view(coupon, t('coupon'), refreshing),
    vatId: view('vatId', t('vatId'), refreshing),
    buyerReference: view('buyerReference', t('buyerReference')),
    notes: view('notes', t('note')),
    giftEmail: view('giftEmail', t('gift.email'), { type: 'email', hint: t('gift.hint') }),
    giftMessage: view('giftMessage', t('gift.message'), { type: 'long' }),
    giftDay: view('giftDay', t('gift.day'), { type: 'date' }),
    immediateDelivery: view('immediateDelivery', t('consent.label'), { type: 'tick', required: true })
  }
}

/** An address that the browser does not insist on, because the buyer can choose to pick the goods up. */
export function optionalAddress(form: AddressForm): AddressForm {
  return { ...form, rows: form.rows.map((row) => row.map((field) => ({ ...field, required: false }))) }
}
