import { find, replaceForm } from './dom.js'
import { nextPath, onSend } from './form.js'
import { service } from './service.js'
import './shell.js'
import { t } from './texts.js'

const form = find('[data-form]')
const next = nextPath('/account')
find('[data-login]').href = `/login?next=${encodeURIComponent(next)}`

async function register(values) {
  const { data, meta } = await service.register(values)
  if (meta.nextStep !== 'VERIFY_EMAIL') return location.assign(next)
  replaceForm(t('register.almost'), t('register.sent', { email: data.user.email }), [t('link.logIn'), '/login'])
}

onSend(form, register)
