import { find, message } from './dom.js'
import { onSend } from './form.js'
import { service } from './service.js'
import './shell.js'

onSend(find('[data-form]'), async ({ email }) => {
  await service.forgotPassword(email)
  find('.sheet').replaceChildren(
    message(
      'Check your email',
      'If an account with this email exists, we have sent it a link to choose a new password.',
      ['Back to log in', '/login']
    )
  )
  find('main').focus()
})
