import { createAddress } from './address-fields.js'
import { find, h, message } from './dom.js'
import { onSend, say } from './form.js'
import { service } from './service.js'
import { showSignedIn } from './shell.js'

/** The name and contact data of the account, which a checkout and an invoice use. */
export function profileForm({ user, profile, consent }) {
  const form = h(
    'form',
    { novalidate: true },
    field('displayName', 'Display name', { value: user.displayName, autocomplete: 'name', dir: 'auto' }),
    h(
      'div',
      { class: 'pair' },
      field('firstName', 'First name', { value: profile.firstName, autocomplete: 'given-name', dir: 'auto' }),
      field('lastName', 'Last name', { value: profile.lastName, autocomplete: 'family-name', dir: 'auto' })
    ),
    field('companyName', 'Company', { value: user.companyName, autocomplete: 'organization', dir: 'auto' }),
    h(
      'div',
      { class: 'pair' },
      field('billingEmail', 'Email for invoices', { value: user.billingEmail, type: 'email', autocomplete: 'email' }),
      field('billingPhone', 'Phone', { value: user.billingPhone, type: 'tel', autocomplete: 'tel' })
    ),
    h(
      'label',
      { class: 'tick' },
      h('input', { type: 'checkbox', name: 'marketingOptIn', checked: consent.marketingOptIn }),
      h('span', {}, 'Email me occasionally about new products')
    ),
    ...ending('Save')
  )
  const optional = ['firstName', 'lastName', 'companyName', 'billingEmail', 'billingPhone']
  onSend(form, async (values) => {
    const { displayName, marketingOptIn } = values
    const others = Object.fromEntries(optional.map((name) => [name, values[name] || null]))
    await service.updateMe({ displayName, marketingOptIn, ...others })
    report(form, 'Saved.')
  })
  return form
}

/** The address with which a checkout starts. The fields depend on the country. */
export function addressForm({ address: stored }) {
  const place = h('div', {}, h('p', { class: 'hint' }, 'One moment …'))
  const remove = h('button', { type: 'button', class: 'plain', hidden: stored === null }, 'Remove the address')
  const form = h('form', { novalidate: true }, place, ...ending('Save the address'), h('p', {}, remove))
  const address = createAddress(place, form)
  onSend(form, async () => {
    if (!(await address.check())) return report(form, '')
    await service.setAddress(address.values())
    remove.hidden = false
    report(form, 'Saved. Your next order starts with this address.')
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
    report(form, 'Removed.')
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
    password('currentPassword', 'Current password', 'current-password'),
    password('newPassword', 'New password', 'new-password'),
    ...ending('Change the password')
  )
  onSend(form, async ({ currentPassword, newPassword }) => {
    await withOwnPassword('currentPassword', () => service.changePassword({ currentPassword, newPassword }))
    form.reset()
    report(form, 'Your password is changed. All other devices are logged out.')
  })
  return form
}

/** The account is erased for good, so the form is closed at first and asks for the password. */
export function deleteForm({ user }) {
  const form = h(
    'form',
    { novalidate: true },
    h(
      'p',
      {},
      'Your name, addresses, emails and password are erased for good. Your subscriptions end, and you lose access to memberships and downloads.'
    ),
    h(
      'p',
      {},
      'The law requires us to keep orders and payments for our accounts. They stay without your name and your addresses, except for invoices, which have both for as long as the law requires.'
    ),
    password('deletePassword', 'Your password', 'current-password'),
    ...ending('Delete my account for good')
  )
  onSend(form, async ({ deletePassword }) => {
    try {
      await withOwnPassword('deletePassword', () => service.deleteMe({ password: deletePassword }))
    } catch (error) {
      if (error.code !== 'AUTH_EMAIL_NOT_VERIFIED') throw error
      return askToVerify(form, user.email)
    }
    const text = 'You are logged out on all devices. Thank you for having been with us.'
    find('[data-page]').replaceChildren(message('Your account is deleted', text, ['Back to the shop', '/']))
    showSignedIn(false)
    find('main').focus()
  })
  return h('details', {}, h('summary', {}, 'Delete the account'), form)
}

/** Without a verified email, someone else could delete what was bought with it. */
function askToVerify(form, email) {
  const send = async () => {
    await service.resendVerification(email)
    say(form, `Open the link that we have sent to ${email}. Then delete the account here.`)
  }
  const button = h('button', { type: 'button', class: 'plain', onclick: send }, 'Send me the link')
  say(form, 'Please verify your email first, so that we know that it is yours. ', button)
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
    throw Object.assign(error, { details: { fieldErrors: { [name]: ['This is not your current password.'] } } })
  }
}
