import { writeFileSync } from 'node:fs'
import { Option } from 'commander'
import type { ShopCommand, Work } from '../run.ts'
import { AppError } from '../../errors.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { emailInput } from '../../shop/accounts/input.ts'
import { previewEmail } from '../../shop/mailer/preview.ts'
import { resendable, resendEmail } from '../../shop/mailer/resend.ts'
import { accountEmails, resendAccountEmail } from '../../shop/mailer/resend-account.ts'
import { sendTestEmail } from '../../shop/mailer/test-email.ts'
import { parseId } from '../terminal/arguments.ts'
import type { Answer } from '../terminal/output.ts'
import { plain } from '../terminal/table.ts'
import { addCommand, runs } from '../run.ts'

export function define(program: ShopCommand): void {
  const group = program.command('mail').description('emails of the shop')
  const resend = addCommand(
    group,
    'resend <order-or-email>',
    'send an email again: about an order what fits it, such as the receipt, or --template; about an account --template',
    'mail resend 12'
  ).addOption(new Option('--template <name>', 'the email').choices([...resendable, ...accountEmails]))
  runs(resend, sendAgain)
  const preview = addCommand(
    group,
    'preview <template>',
    'show an email with sample data, your templates and your settings',
    'mail preview order_receipt --html receipt.html'
  ).option('--html <file>', 'write its HTML part to a file')
  runs(preview, ({ app, options, now }: Work<{ html?: string }>, template: string) => {
    const { html, ...shown } = previewEmail(app, template, now)
    const { html: file } = options
    if (file !== undefined) writeFileSync(file, html)
    return {
      json: { mail: { template, ...shown, html }, file: file ?? null },
      human: [
        `Subject: ${plain(shown.subject)}`,
        '',
        ...shown.text.split('\n').map(plain),
        ...shown.used.map((name) => `From your file ${name}.`),
        ...shown.problems.map(({ name, problem }) => `Your file ${name} is not used: it ${problem}.`),
        ...(file === undefined ? [] : [`The HTML part is in ${file}.`])
      ]
    }
  })
  const test = addCommand(group, 'test <address>', 'send a test email now', 'mail test you@shop.example')
  runs(test, async ({ app, now }: Work<object>, address: string) => {
    const { email } = parseWith(emailInput, { email: address })
    const sent = await sendTestEmail(app, email, now)
    const human = {
      smtp: `The mail server ${sent.at} has accepted a test email to ${email}.`,
      file: `No mail server is configured: the test email is a file in ${sent.at}. Set SHOPSTEAD_SMTP_URL.`
    }
    return { json: { sent: { to: email, ...sent } }, human: human[sent.by] }
  })
}

/** @throws AppError USAGE for an email that is not about what was named, and the errors of the emails */
function sendAgain({ app, options, now }: Work<{ template?: string }>, about: string): Answer {
  const { template } = options
  const ofAccount = accountEmails.find((name) => name === template)
  const ofOrder = resendable.find((name) => name === template)
  const isAccount = about.includes('@')
  if (isAccount && ofAccount === undefined)
    throw new AppError('USAGE', `For an account, pass --template ${accountEmails.join(', ')}.`)
  if (!isAccount && ofAccount !== undefined)
    throw new AppError('USAGE', `${ofAccount} is about an account: pass the email of the account.`)
  const sent =
    ofAccount === undefined
      ? resendEmail(app, parseId(about), ofOrder, now)
      : resendAccountEmail(app, about, ofAccount, now)
  return { json: { sent }, human: `The server sends ${sent.template} to ${plain(sent.to)} within a second.` }
}
