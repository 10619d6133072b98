import { readdirSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { listModules, setting } from '../../shop/settings/settings.ts'
import { failed, ok, warning } from './check.ts'
import type { Check } from './check.ts'

const fewBytesFree = 1024 ** 3
const tooFewBytesFree = 100 * 1024 ** 2

export const deploymentChecks: readonly Check[] = [
  {
    name: 'disk',
    run({ config }) {
      const { bavail, bsize } = statfsSync(config.dataDir)
      const free = bavail * bsize
      const message = `${(free / 1024 ** 3).toFixed(1)} GB free.`
      const advice = 'Make room: orders cannot be taken on a full disk.'
      if (free < tooFewBytesFree) return failed(message, advice)
      return free < fewBytesFree ? warning(message, advice) : ok(message)
    }
  },
  {
    name: 'file modes',
    run({ config }) {
      const open = [
        '.',
        ...readdirSync(config.dataDir).filter((name) => name.startsWith('secret.key') || name.endsWith('.db'))
      ].filter((name) => (statSync(join(config.dataDir, name)).mode & (name === 'secret.key' ? 0o077 : 0o007)) !== 0)
      const readable = open.filter((name) => name === '.' || name === 'secret.key')
      if (readable.length === 0) return ok("The data folder and the secret are the owner's alone.")
      return warning(
        `Others can read: ${readable.join(', ')}.`,
        `Run "chmod 700 ${config.dataDir}" and "chmod 600 ${config.dataDir}/secret.key".`
      )
    }
  },
  {
    name: 'secret',
    run({ config }) {
      return ok(
        config.secret === null ? 'Kept in data/secret.key; it belongs into every backup.' : 'From SHOPSTEAD_SECRET.'
      )
    }
  },
  {
    name: 'public url',
    run({ config, publicUrl }) {
      if (config.env !== 'production') return ok(publicUrl())
      if (config.publicUrl === null)
        return failed('Not set.', 'Set SHOPSTEAD_PUBLIC_URL to the address that browsers use.')
      if (!config.publicUrl.startsWith('https:'))
        return warning(config.publicUrl, 'Serve the shop over https: session cookies are not protected without.')
      return ok(config.publicUrl)
    }
  },
  {
    name: 'passwords',
    run({ db }) {
      const length = setting(db, 'registration.passwordMinLength')
      if (length >= 15) return ok(`At least ${length} characters.`)
      return warning(
        `At least ${length} characters.`,
        'NIST SP 800-63B asks for 15 where there is no second factor: shopstead settings set registration.passwordMinLength 15'
      )
    }
  },
  {
    name: 'modules',
    run({ db }) {
      const off = listModules(db).filter((module) => !module.enabled)
      return ok(off.length === 0 ? 'All on.' : `Off: ${off.map((module) => module.name).join(', ')}.`)
    }
  },
  {
    name: 'mail',
    run({ config, db }) {
      const late = db.sqlite
        .prepare<[number], { count: number }>(
          `SELECT count(*) AS count FROM mails WHERE state = 'failed' OR (state = 'queued' AND created_at < ?)`
        )
        .get(Date.now() - 60 * 60_000)
      if ((late?.count ?? 0) > 0)
        return warning(`${late?.count} messages are undelivered.`, 'Check SHOPSTEAD_SMTP_URL and the mail server.')
      if (config.smtpUrl !== null) return ok('By SMTP.')
      const message = 'Written to data/mail, since SHOPSTEAD_SMTP_URL is not set.'
      return config.env === 'production'
        ? warning(message, 'Set SHOPSTEAD_SMTP_URL, or nobody gets a message.')
        : ok(message)
    }
  }
]
