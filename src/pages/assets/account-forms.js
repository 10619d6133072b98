import { createAddress } from './address-fields.js'
import { find, h, message } from './dom.js'
import { onSend, say } from './form.js'
import { service } from './service.js'
import { showSignedIn } from './shell.js'
import { t } from './texts.js'

/** The name and contact data of the account, which a checkout and an invoice use. */
export function profileForm({ user, profile, consent }) {
  const form = h(
    'form',
    { novalidate: true },
    field('displayName', t('displayName'), { value: user.displayName, autocomplete: 'name', dir: 'auto' }),
    h(
      'div',
      { class: 'pair' },
      field('firstName', t('firstName'), { value: profile.firstName, autocomplete: 'given-name', dir: 'auto' }),
      field('lastName', t('lastName'), { value: profile.lastName, autocomplete: 'family-name', dir: 'auto' })
    ),
    field('companyName', t('account.company'), { value: user.companyName, autocomplete: 'organization', dir: 'auto' }),
    h(
      'div',
      { class: 'pair' },
      field('billingEmail', t('account.billingEmail'), {
        value: user.billingEmail,
        type: 'email',
        autocomplete: 'email'
      }),
      field('billingPhone', t('account.phone'), { value: user.billingPhone, type: 'tel', autocomplete: 'tel' })
    ),
    h(
      'label',
      { class: 'tick' },
      h('input', { type: 'checkbox', name: 'marketingOptIn', checked: consent.marketingOptIn }),
      h('span', {}, t('newsByEmail'))
    ),
    ...ending(t('save'))
  )
  const optional = ['firstName', 'lastName', 'companyName', 'billingEmail', 'billingPhone']
  onSend(form, async (values) => {
    const { displayName, marketingOptIn } = values
    const others = Object.fromEntries(optional.map((name) => [name, values[name] || null]))
    await service.updateMe({ displayName, marketingOptIn, ...others })
    report(form, t('saved'))
  })
  return form
}

/** The address with which a checkout starts. The fields depend on the country. */
export function addressForm({ address: stored }) {
  const place = h('div', {}, h('p', { class: 'hint' }, t('moment')))
  const remove = h('button', { type: 'button', class: 'plain', hidden: stored === null }, t('account.removeAddress'))
  const form = h('form', { novalidate: true }, place, ...ending(t('account.saveAddress')), h('p', {}, remove))
  const address = createAddress(place, form)
  onSend(form, async () => {
    if (!(await address.check())) return report(form, '')
    await service.setAddress(address.values())
    remove.hidden = false
    report(form, t('account.addressSaved'))
  })
  remove.addEventListener('click', async () => {
    try {
      await service.setAddress(null)
    } catch (error) {
      return say(form, error.message)
    }
    form.reset()
    for (const field of place.querySelectorAll('input:not([type=hidden])')) field.value = ''
    remove.hidden = true
    report(form, t('account.addressRemoved'))
    form.querySelector('button[type=submit]').focus()
  })
  void address.start(stored ?? {})
  return form
}

/** The password changes at once. All other devices are logged out. */
export function passwordForm() {
  const form = h(
    'form',
    { novalidate: true },
    password('currentPassword', t('currentPassword'), 'current-password'),
    password('newPassword', t('newPassword'), 'new-password'),
    ...ending(t('changePassword'))
  )
  onSend(form, async ({ currentPassword, newPassword }) => {
    await withOwnPassword('currentPassword', () => service.changePassword({ currentPassword, newPassword }))
    form.reset()
    report(form, t('passwordChanged'))
  })
  return form
}

/** The account is erased for good, so the form is closed at first and asks for the password. */
export function deleteForm({ user }) {
  const form = h(
    'form',
    { novalidate: true },
    h('p', {}, t('account.deleteText')),
    h('p', {}, t('account.deleteStays')),
    password('deletePassword', t('account.yourPassword'), 'current-password'),
    ...ending(t('account.deleteButton'))
  )
  onSend(form, async ({ deletePassword }) => {
    try {
      await withOwnPassword('deletePassword', () => service.deleteMe({ password: deletePassword }))
    } catch (error) {
      if (error.code !== 'AUTH_EMAIL_NOT_VERIFIED') throw error
      return askToVerify(form, user.email)
    }
    const links = [[t('link.shop'), '/']]
    find('[data-page]').replaceChildren(message(t('account.deleted'), t('account.deletedText'), ...links))
    showSignedIn(false)
    find('main').focus()
  })
  return h('details', {}, h('summary', {}, t('account.delete')), form)
}

/** Without a verified email, someone else could delete what was bought with it. */
function askToVerify(form, email) {
  const send = async () => {
    await service.resendVerification(email)
    say(form, t('account.verifyThenDelete', { email }))
  }
  const button = h('button', { type: 'button', class: 'plain', onclick: send }, t('account.sendLink'))
  say(form, t('account.verifyFirst'), ' ', button)
}

export function field(name, label, attributes) {
  const id = `account-${name}`
  return h('div', { class: 'field' }, h('label', { for: id }, label), h('input', { id, name, ...attributes }))
}

export function password(name, label, autocomplete) {
  return field(name, label, { type: 'password', autocomplete, required: true, maxlength: 200 })
}

export function ending(label) {
  return [h('button', { type: 'submit', class: 'quiet' }, label), h('p', { role: 'status', class: 'added' })]
}

export function report(form, text) {
  form.querySelector('[role=status]').textContent = text
}

/** Shows a wrong password at its field. The service answers as to a failed login. */
export async function withOwnPassword(name, send) {
  try {
    await send()
  } catch (error) {
    if (error.code !== 'AUTH_INVALID_CREDENTIALS') throw error
    throw Object.assign(error, { details: { fieldErrors: { [name]: [t('wrongPassword')] } } })
  }
}
