import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { write } from '../../src/platform/db/database.ts'
import { activateUser, deactivateUser } from '../../src/shop/accounts/deactivate.ts'
import { getUser } from '../../src/shop/accounts/find.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import type { Answer } from '../support/browser.ts'
import { nextMail, tokenOf } from '../support/mail-files.ts'
import { goodPassword, makeUser } from '../support/people.ts'
import { slowRequest } from '../support/raw-http.ts'
import { startShop } from '../support/running-shop.ts'
import type { RunningShop } from '../support/running-shop.ts'

let shop: RunningShop
beforeAll(async () => {
  shop = await startShop({ seed: null })
  for (const bucket of ['register_email', 'login_ip', 'login_account', 'token_ip'] as const) {
    setSetting(shop.app.db, `limits.${bucket}`, 'off', 0)
  }
})
afterAll(() => shop.stop())

/** How many answers there were of each status and code. */
function tally(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, error } of answers) {
    const outcome = error === undefined ? String(status) : `${status} ${error.code}`
    counts[outcome] = (counts[outcome] ?? 0) + 1
  }
  return counts
}

function atOnce(times: number, send: (index: number) => Promise<Answer>): Promise<Answer[]> {
  return Promise.all(Array.from({ length: times }, (_, index) => send(index)))
}

function count(table: string): number {
  return Number(shop.app.db.sqlite.prepare(`SELECT count(*) FROM ${table}`).pluck().get())
}

describe('concurrent requests', () => {
  it('create one account for twenty registrations with one email', async () => {
    const answers = await atOnce(20, (index) => {
      const email = index % 2 === 0 ? 'ada@example.com' : ' ADA@Example.com'
      return shop.visitor().register({ email })
    })
    expect(tally(answers)).toEqual({ '201': 1, '400 AUTH_REGISTRATION_FAILED': 19 })
    expect([count('users'), count('sessions'), count('registration_consents')]).toEqual([1, 1, 1])
  })

  it('create twenty accounts with different usernames for one local part', async () => {
    const before = count('users')
    const answers = await atOnce(20, (index) => shop.visitor().register({ email: `info@shop${index}.example` }))
    expect(tally(answers)).toEqual({ '201': 20 })
    expect(count('users')).toBe(before + 20)
  })

  it('redeem a verification token once', async () => {
    setSetting(shop.app.db, 'registration.emailVerification', 'true', 0)
    await shop.visitor().register({ email: 'grace@example.com' })
    setSetting(shop.app.db, 'registration.emailVerification', 'false', 0)
    const token = tokenOf((await nextMail(shop.dataDir, 'grace@example.com')).links.verify)
    const answers = await atOnce(10, () =>
      shop.visitor().post('/auth/verify-email', { token, password: 'tidal-basalt-93' })
    )
    expect(tally(answers)).toEqual({ '200': 1, '400 TOKEN_INVALID': 9 })
  })

  it('set one password with one reset token', async () => {
    const email = 'grace@example.com'
    await shop.visitor().post('/auth/forgot-password', { email })
    const token = tokenOf((await nextMail(shop.dataDir, email, 2)).links.reset)
    const passwords = Array.from({ length: 10 }, (_, index) => `granite-willow-${index}`)
    const answers = await atOnce(10, (index) =>
      shop.visitor().post('/auth/reset-password', { token, password: passwords[index] })
    )
    expect(tally(answers)).toEqual({ '200': 1, '400 TOKEN_INVALID': 9 })
    const logins = await atOnce(10, (index) =>
      shop.visitor().post('/auth/login', { email, password: passwords[index] })
    )
    expect(tally(logins)).toEqual({ '200': 1, '401 AUTH_INVALID_CREDENTIALS': 9 })
    expect(logins.findIndex(({ status }) => status === 200)).toBe(answers.findIndex(({ status }) => status === 200))
  })

  it('leave no session when logins compete with a deactivation', async () => {
    const { id, email } = await makeUser(shop.app, { email: 'petra@shop.example' })
    for (let round = 0; round < 5; round += 1) {
      let answered = 0
      const logins = atOnce(8, async () => {
        const answer = await shop.visitor().post('/auth/login', { email, password: goodPassword })
        answered += 1
        return answer
      })
      await vi.waitFor(() => expect(answered).toBeGreaterThanOrEqual(round), { timeout: 10_000, interval: 1 })
      write(shop.app.db, (tx) => void deactivateUser(tx, id, shop.app.clock.now()))
      const outcomes = Object.keys(tally(await logins)).filter(
        (outcome) => outcome !== '200' && outcome !== '403 AUTH_ACCOUNT_DEACTIVATED'
      )
      expect(outcomes).toEqual([])
      const left = shop.app.db.sqlite.prepare('SELECT count(*) FROM sessions WHERE user_id = ?').pluck().get(id)
      expect(left).toBe(0)
      write(shop.app.db, (tx) => void activateUser(tx, id, shop.app.clock.now()))
    }
  })

  it('leave only sessions of the new password when logins compete with a password change', async () => {
    const email = 'jonas@shop.example'
    const { id } = await makeUser(shop.app, { email })
    const owner = shop.visitor()
    await owner.post('/auth/login', { email, password: goodPassword })
    const [changed, ...logins] = await Promise.all([
      owner.post('/auth/change-password', { currentPassword: goodPassword, newPassword: 'granite-willow-71' }),
      ...Array.from({ length: 8 }, () => shop.visitor().post('/auth/login', { email, password: goodPassword }))
    ])
    expect(changed.status).toBe(200)
    const allowed = new Set(['200', '401 AUTH_INVALID_CREDENTIALS'])
    expect(Object.keys(tally(logins)).filter((outcome) => !allowed.has(outcome))).toEqual([])
    expect(shop.app.db.sqlite.prepare('SELECT count(*) FROM sessions WHERE user_id = ?').pluck().get(id)).toBe(1)
    expect((await owner.get('/me')).status).toBe(200)
    expect(getUser(shop.app.db, email).status).toBe('active')
  })

  it('end with their session, even if the body is still arriving', async () => {
    const visitor = shop.visitor()
    const email = 'slow@example.com'
    await visitor.register({ email })
    const cookie = `Cookie: shopstead_session=${visitor.cookies.get('shopstead_session')}`
    const body = JSON.stringify({ firstName: 'Late' })
    const head = ['PATCH /api/v1/me HTTP/1.1', cookie, 'Content-Type: application/json']
    const answer = await slowRequest(shop.url, head, body, () => visitor.post('/auth/logout'))
    expect(answer).toMatch(/^HTTP\/1\.1 401 .*"NOT_AUTHENTICATED"/s)
    expect(getUser(shop.app.db, email).firstName).toBeNull()
  })

  it('both answer 200 when they log out of one session', async () => {
    const visitor = shop.visitor()
    await visitor.register({ email: 'twice@example.com' })
    expect(tally(await atOnce(5, () => visitor.post('/auth/logout')))).toEqual({ '200': 5 })
  })
})
