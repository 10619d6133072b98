import { find, message } from './dom.js'
import { onSend } from './form.js'
import { service } from './service.js'
import './shell.js'

onSend(find('[data-form]'), async ({ email }) => {
  await service.forgotPassword(email)
  find('.sheet').replaceChildren(
    message(
      'Look into your mail',
      'If there is an account with this email, a link to choose a new password is on its way.',
      ['Back to log in', '/login']
    )
  )
  find('main').focus()
})
