import { find, replaceForm } from './dom.js'
import { onSend } from './form.js'
import { service } from './service.js'
import './shell.js'
import { t } from './texts.js'

onSend(find('[data-form]'), async ({ email }) => {
  await service.forgotPassword(email)
  replaceForm(t('forgot.check'), t('forgot.sent'), [t('forgot.back'), '/login'])
})
