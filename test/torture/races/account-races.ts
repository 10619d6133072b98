import type { Answer, Browser } from '../../support/browser.ts'
import { nextMail, tokenOf } from '../../support/mail-files.ts'
import { atOnce, crowd, expectEqual, expectOneWinner, newcomer, password, tally, wordOf } from './ground.ts'
import type { Ground, Race } from './ground.ts'

const wrong = '401 AUTH_INVALID_CREDENTIALS'
const limited = '429 AUTH_RATE_LIMITED login_account'
const passwordOf = (index: number): string => `granite-willow-${index}`

function logIn(visitor: Browser, email: string, pass: string = password): Promise<Answer> {
  return visitor.post('/auth/login', { email, password: pass })
}

/** Each has a password of his own, so that it is seen who won: his is the only one that opens the account. */
const oneEmail: Race = {
  name: 'one email registered by many',
  short: 2,
  async run(ground, round) {
    const email = `ada-${round}@shop.example`
    const answers = await atOnce(crowd, async (index) => {
      const spelled = index % 3 === 0 ? ` ${email.toUpperCase()}` : email
      return ground.visitor(index).register({ email: spelled, password: passwordOf(index) })
    })
    const losers = ['400 AUTH_REGISTRATION_FAILED']
    expectOneWinner(ground, this.name, answers.map(wordOf), { winner: '201', losers })
    await expectOnlyPassword(ground, this.name, email, answers, '201')
  }
}

const verifyToken: Race = {
  name: 'one verification token redeemed by many',
  short: 2,
  async run(ground, round) {
    const email = `grace-${round}@shop.example`
    ground.set('registration.emailVerification', 'true')
    await newcomer(ground, email, round)
    ground.set('registration.emailVerification', 'false')
    const token = tokenOf((await nextMail(ground.dataDir, email)).links.verify)
    const answers = await atOnce(crowd, (index) => ground.visitor(index).post('/auth/verify-email', { token }))
    expectOneWinner(ground, this.name, answers.map(wordOf), { winner: '200', losers: ['400 TOKEN_INVALID'] })
    expectEqual(ground, `${this.name}: login afterwards`, wordOf(await logIn(ground.visitor(round), email)), '200')
  }
}

const resetToken: Race = {
  name: 'one reset token redeemed by many',
  short: 2,
  async run(ground, round) {
    const email = `joan-${round}@shop.example`
    await newcomer(ground, email, round)
    await ground.visitor(round).post('/auth/forgot-password', { email })
    const token = tokenOf((await nextMail(ground.dataDir, email)).links.reset)
    const answers = await atOnce(crowd, (index) =>
      ground.visitor(index).post('/auth/reset-password', { token, password: passwordOf(index) })
    )
    expectOneWinner(ground, this.name, answers.map(wordOf), { winner: '200', losers: ['400 TOKEN_INVALID'] })
    await expectOnlyPassword(ground, this.name, email, answers, '200')
  }
}

/** Of all the passwords that were sent, the winner's is the account's. */
async function expectOnlyPassword(
  ground: Ground,
  what: string,
  email: string,
  answers: readonly Answer[],
  winner: string
): Promise<void> {
  const won = answers.findIndex((answer) => wordOf(answer) === winner)
  const logins = await atOnce(5, (index) => logIn(ground.visitor(index), email, passwordOf((won + index) % crowd)))
  expectEqual(ground, `${what}: logins by the winner's password and by others`, logins.map(wordOf), [
    '200',
    ...Array.from({ length: 4 }, () => wrong)
  ])
}

/** A process of the operator's shuts the account while people log in to it at both servers. */
const shutAccount: Race = {
  name: 'login against deactivation',
  short: 2,
  async run(ground, round) {
    const email = `petra-${round}@shop.example`
    const visitors = [await newcomer(ground, email, round)]
    const operator = { isAtWork: true }
    const shutting = ground.cli('users', 'deactivate', email, '--json').finally(() => (operator.isAtWork = false))
    const words: string[] = []
    const keepLoggingIn = async (lane: number): Promise<void> => {
      while (operator.isAtWork) {
        const visitor = ground.visitor(lane)
        visitors.push(visitor)
        words.push(wordOf(await logIn(visitor, email)))
      }
    }
    const [ended] = await Promise.all([shutting, ...Array.from({ length: 8 }, (_, lane) => keepLoggingIn(lane))])
    ground.trial.count(this.name, words.length)
    expectEqual(ground, `${this.name}: the operator's exit code`, ended.exitCode, 0)
    const shut = '403 AUTH_ACCOUNT_DEACTIVATED'
    const strange = words.filter((word) => word !== '200' && word !== shut)
    expectEqual(ground, `${this.name}: other answers`, strange, [])
    const alive = await Promise.all(visitors.map(async (visitor) => wordOf(await visitor.get('/me'))))
    expectEqual(ground, `${this.name}: sessions afterwards`, Object.keys(tally(alive)), ['401 NOT_AUTHENTICATED'])
    expectEqual(ground, `${this.name}: login afterwards`, wordOf(await logIn(ground.visitor(round), email)), shut)
    // What is left of a session is refused while the account is shut, and good again once it is opened.
    const left = 'SELECT count(*) FROM sessions WHERE user_id = (SELECT id FROM users WHERE email = ?)'
    expectEqual(ground, `${this.name}: sessions kept`, ground.db.sqlite.prepare(left).pluck().get(email), 0)
  }
}

/** The limit is as many as they are, or one more: so what comes next tells how many were counted. */
const wrongPasswords: Race = {
  name: '100 wrong passwords at once',
  short: 2,
  async run(ground, round) {
    const email = `mira-${round}@shop.example`
    await newcomer(ground, email, round)
    const isOver = round % 2 === 0
    ground.set('limits.login_account', isOver ? '100/900' : '101/900')
    const answers = await atOnce(100, (index) => logIn(ground.visitor(index), email, passwordOf(index)))
    ground.trial.count(this.name, answers.length)
    expectEqual(ground, this.name, tally(answers.map(wordOf)), { [wrong]: 100 })
    const next = wordOf(await logIn(ground.visitor(round), email))
    expectEqual(ground, `${this.name}: the next login`, next, isOver ? limited : '200')
    ground.set('limits.login_account', 'off')
  }
}

/**
 * With ten points, each process lets no more run at once than are left; the two do not see what the other one has under
 * way, so that the last tries may be given out by both.
 */
const tenPoints: Race = {
  name: '100 wrong passwords on ten points',
  short: 1,
  async run(ground, round) {
    const email = `noor-${round}@shop.example`
    await newcomer(ground, email, round)
    ground.set('limits.login_account', '10/900')
    const answers = await atOnce(100, (index) => logIn(ground.visitor(index), email, passwordOf(index)))
    ground.trial.count(this.name, answers.length)
    const { [wrong]: tries = 0, [limited]: refused = 0 } = tally(answers.map(wordOf))
    if (tries + refused !== 100 || tries < 10 || tries > 20)
      ground.trial.violation(`${this.name}: came ${JSON.stringify(tally(answers.map(wordOf)))}`)
    const next = wordOf(await logIn(ground.visitor(round), email))
    expectEqual(ground, `${this.name}: the right one afterwards`, next, limited)
    ground.set('limits.login_account', 'off')
  }
}

const changedPassword: Race = {
  name: 'one password changed by many',
  short: 2,
  async run(ground, round) {
    const email = `noah-${round}@shop.example`
    await newcomer(ground, email, round)
    const visitors = await atOnce(10, async (index) => {
      const visitor = ground.visitor(index)
      await logIn(visitor, email)
      return visitor
    })
    const answers = await Promise.all(
      visitors.map((visitor, index) =>
        visitor.post('/auth/change-password', { currentPassword: password, newPassword: passwordOf(index) })
      )
    )
    const losers = [wrong, '401 NOT_AUTHENTICATED']
    expectOneWinner(ground, this.name, answers.map(wordOf), { winner: '200', losers })
    const alive = await Promise.all(visitors.map(async (visitor) => wordOf(await visitor.get('/me'))))
    expectEqual(ground, `${this.name}: sessions afterwards`, alive.filter((word) => word === '200').length, 1)
    await expectOnlyPassword(ground, this.name, email, answers, '200')
  }
}

export const accountRaces: readonly Race[] = [
  oneEmail,
  verifyToken,
  resetToken,
  shutAccount,
  wrongPasswords,
  tenPoints,
  changedPassword
]
