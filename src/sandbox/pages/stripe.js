/**
 * The sandbox's stand-in for Stripe.js: the part that createPaymentForm uses, as strict as Stripe.js about the order of
 * calls. `cards` comes before this text. It sends nothing: the token names the test card.
 */
globalThis.Stripe = (publishableKey) => {
  const wrong = (text) => Object.assign(new Error(text), { name: 'IntegrationError' })
  if (!/^pk_test_\w+$/.test(publishableKey)) throw wrong('The sandbox needs a publishable test key, pk_test_….')

  const checkOptions = ({ mode, amount, currency }) => {
    if (mode !== 'payment') throw wrong('The sandbox supports mode: "payment" only.')
    if (!Number.isSafeInteger(amount) || amount <= 0) throw wrong('amount must be a whole number above 0.')
    if (!/^[a-z]{3}$/.test(currency)) throw wrong('currency must be three lower-case letters.')
  }

  const draw = (form) => {
    const label = document.createElement('label')
    const select = document.createElement('select')
    select.name = 'sandbox-card'
    select.append(new Option('Choose a card', ''), ...cards.map(([id, text]) => new Option(text, id)))
    label.append('Test card (no money moves) ', select)
    const message = document.createElement('p')
    message.setAttribute('role', 'alert')
    form.root = document.createElement('div')
    form.root.append(label, message)
    Object.assign(form, { select, message })
  }

  return {
    elements(options) {
      checkOptions(options)
      const form = { options, submitted: false }
      return Object.assign(form, {
        create(type) {
          if (type !== 'payment') throw wrong('The sandbox supports the Payment Element only.')
          draw(form)
          return {
            mount(target) {
              const place = typeof target === 'string' ? document.querySelector(target) : target
              if (place === null) throw wrong(`The page has no ${target}.`)
              place.replaceChildren(form.root)
            },
            unmount: () => form.root.remove()
          }
        },
        update(changed) {
          form.options = { ...form.options, ...changed }
          checkOptions(form.options)
        },
        async submit() {
          if (form.root?.isConnected !== true) throw wrong('Mount the Payment Element before you submit it.')
          const error = form.select.value === '' ? { type: 'validation_error', message: 'Choose a card.' } : undefined
          form.message.textContent = error?.message ?? ''
          form.submitted = error === undefined
          return error === undefined ? {} : { error }
        }
      })
    },
    async createConfirmationToken({ elements }) {
      if (!elements.submitted) throw wrong('Call elements.submit() before stripe.createConfirmationToken().')
      elements.submitted = false
      return { confirmationToken: { id: `ctoken_${elements.select.value.slice('pm_'.length)}` } }
    }
  }
}
