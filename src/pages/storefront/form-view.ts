import { ShopError } from '../../client/client.ts'
import type { AddressForm } from './site.ts'

/** A field of a form. `tick` is a checkbox, and `long` has several lines. */
export type Field = {
  name: string
  label: string
  type?: 'text' | 'email' | 'password' | 'tel' | 'url' | 'tick' | 'long'
  autocomplete?: string
  required?: boolean
  hint?: string
}

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
  others?: readonly Button[]
  addressForm?: AddressForm
}

/** A form as form.eta shows it. */
export type FormView = Omit<Blank, 'rows'> & {
  rows: (Field & { value: Value; errors: readonly string[] | undefined; focus: boolean })[][]
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
    if (type === 'password') return ''
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
