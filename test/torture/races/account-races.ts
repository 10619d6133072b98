import type { Answer, Browser } from '../../support/browser.ts'
import { nextMail, tokenOf } from '../../support/mail-files.ts'
import {
  concurrently,
  crowdSize,
  expectEqual,
  expectOneWinner,
  registerCustomer,
  password,
  tally,
  outcomeOf
} from './race-context.ts'
import type { RaceContext, Race } from './race-context.ts'

const wrong = '401 AUTH_INVALID_CREDENTIALS'
const limited = '429 AUTH_RATE_LIMITED login_account'
const passwordOf = (index: number): string => `granite-willow-${index}`

function logIn(visitor: Browser, email: string, pass: string = password): Promise<Answer> {
  return visitor.post('/auth/login', { email, password: pass })
}

/** Each request has its own password, so that the winner is known: only its password can log in. */
const oneEmail: Race = {
  name: 'concurrent registrations of one email',
  shortRounds: 2,
  async run(context, round) {
    const email = `ada-${round}@shop.example`
    const answers = await concurrently(crowdSize, async (index) => {
      const spelled = index % 3 === 0 ? ` ${email.toUpperCase()}` : email
      return context.visitor(index).register({ email: spelled, password: passwordOf(index) })
    })
    const losers = ['400 AUTH_REGISTRATION_FAILED']
    expectOneWinner(context, this.name, answers.map(outcomeOf), { winner: '201', losers })
    await expectOnlyPassword(context, this.name, email, answers, '201')
  }
}

const verifyToken: Race = {
  name: 'concurrent use of one verification token',
  shortRounds: 2,
  async run(context, round) {
    const email = `grace-${round}@shop.example`
    context.set('registration.emailVerification', 'true')
    await registerCustomer(context, email, round)
    context.set('registration.emailVerification', 'false')
    const token = tokenOf((await nextMail(context.dataDir, email)).links.verify)
    const answers = await concurrently(crowdSize, (index) =>
      context.visitor(index).post('/auth/verify-email', { token, password: 'tidal-basalt-93' })
    )
    expectOneWinner(context, this.name, answers.map(outcomeOf), { winner: '200', losers: ['400 TOKEN_INVALID'] })
    expectEqual(context, `${this.name}: login afterwards`, outcomeOf(await logIn(context.visitor(round), email)), '200')
  }
}

const resetToken: Race = {
  name: 'concurrent use of one reset token',
  shortRounds: 2,
  async run(context, round) {
    const email = `joan-${round}@shop.example`
    await registerCustomer(context, email, round)
    await context.visitor(round).post('/auth/forgot-password', { email })
    const token = tokenOf((await nextMail(context.dataDir, email)).links.reset)
    const answers = await concurrently(crowdSize, (index) =>
      context.visitor(index).post('/auth/reset-password', { token, password: passwordOf(index) })
    )
    expectOneWinner(context, this.name, answers.map(outcomeOf), { winner: '200', losers: ['400 TOKEN_INVALID'] })
    await expectOnlyPassword(context, this.name, email, answers, '200')
  }
}

/** Verifies that only the winner's password can log in. */
async function expectOnlyPassword(
  context: RaceContext,
  what: string,
  email: string,
  answers: readonly Answer[],
  winner: string
): Promise<void> {
  const won = answers.findIndex((answer) => outcomeOf(answer) === winner)
  const logins = await concurrently(5, (index) =>
    logIn(context.visitor(index), email, passwordOf((won + index) % crowdSize))
  )
  expectEqual(context, `${what}: logins with the winner's password and with others`, logins.map(outcomeOf), [
    '200',
    ...Array.from({ length: 4 }, () => wrong)
  ])
}

/** A command deactivates an account during logins at both servers. */
const deactivatedAccount: Race = {
  name: 'logins during a deactivation',
  shortRounds: 2,
  async run(context, round) {
    const email = `petra-${round}@shop.example`
    const visitors = [await registerCustomer(context, email, round)]
    const operator = { isAtWork: true }
    const deactivating = context
      .cli('users', 'deactivate', email, '--yes', '--json')
      .finally(() => (operator.isAtWork = false))
    const outcomes: string[] = []
    const keepLoggingIn = async (index: number): Promise<void> => {
      while (operator.isAtWork) {
        const visitor = context.visitor(index)
        visitors.push(visitor)
        outcomes.push(outcomeOf(await logIn(visitor, email)))
      }
    }
    const [ended] = await Promise.all([deactivating, ...Array.from({ length: 8 }, (_, index) => keepLoggingIn(index))])
    context.trial.count(this.name, outcomes.length)
    expectEqual(context, `${this.name}: the operator's exit code`, ended.exitCode, 0)
    const deactivated = '403 AUTH_ACCOUNT_DEACTIVATED'
    const unexpected = outcomes.filter((outcome) => outcome !== '200' && outcome !== deactivated)
    expectEqual(context, `${this.name}: other responses`, unexpected, [])
    const alive = await Promise.all(visitors.map(async (visitor) => outcomeOf(await visitor.get('/me'))))
    expectEqual(context, `${this.name}: sessions afterwards`, Object.keys(tally(alive)), ['401 NOT_AUTHENTICATED'])
    expectEqual(
      context,
      `${this.name}: login afterwards`,
      outcomeOf(await logIn(context.visitor(round), email)),
      deactivated
    )
    // A remaining session would be refused now, but valid again after the account is activated.
    const left = 'SELECT count(*) FROM sessions WHERE user_id = (SELECT id FROM users WHERE email = ?)'
    expectEqual(context, `${this.name}: remaining sessions`, context.db.sqlite.prepare(left).pluck().get(email), 0)
  }
}

/** The limit is the number of attempts or one more, so that the next login shows how many were counted. */
const wrongPasswords: Race = {
  name: '100 concurrent wrong passwords',
  shortRounds: 2,
  async run(context, round) {
    const email = `mira-${round}@shop.example`
    await registerCustomer(context, email, round)
    const isOver = round % 2 === 0
    context.set('limits.login_account', isOver ? '100/900' : '101/900')
    const answers = await concurrently(100, (index) => logIn(context.visitor(index), email, passwordOf(index)))
    context.trial.count(this.name, answers.length)
    expectEqual(context, this.name, tally(answers.map(outcomeOf)), { [wrong]: 100 })
    const next = outcomeOf(await logIn(context.visitor(round), email))
    expectEqual(context, `${this.name}: the next login`, next, isOver ? limited : '200')
    context.set('limits.login_account', 'off')
  }
}

/**
 * With a limit of ten, each process runs at most as many attempts as are left. The two processes do not see each other's
 * running attempts, so up to twice the limit may be tried.
 */
const tenPoints: Race = {
  name: '100 concurrent wrong passwords with a limit of ten',
  shortRounds: 1,
  async run(context, round) {
    const email = `noor-${round}@shop.example`
    await registerCustomer(context, email, round)
    context.set('limits.login_account', '10/900')
    const answers = await concurrently(100, (index) => logIn(context.visitor(index), email, passwordOf(index)))
    context.trial.count(this.name, answers.length)
    const { [wrong]: tries = 0, [limited]: refused = 0 } = tally(answers.map(outcomeOf))
    if (tries + refused !== 100 || tries < 10 || tries > 20)
      context.trial.violation(`${this.name}: got ${JSON.stringify(tally(answers.map(outcomeOf)))}`)
    const next = outcomeOf(await logIn(context.visitor(round), email))
    expectEqual(context, `${this.name}: the right password afterwards`, next, limited)
    context.set('limits.login_account', 'off')
  }
}

const changedPassword: Race = {
  name: 'concurrent changes of one password',
  shortRounds: 2,
  async run(context, round) {
    const email = `noah-${round}@shop.example`
    await registerCustomer(context, email, round)
    const visitors = await concurrently(10, async (index) => {
      const visitor = context.visitor(index)
      await logIn(visitor, email)
      return visitor
    })
    const answers = await Promise.all(
      visitors.map((visitor, index) =>
        visitor.post('/auth/change-password', { currentPassword: password, newPassword: passwordOf(index) })
      )
    )
    const losers = [wrong, '401 NOT_AUTHENTICATED']
    expectOneWinner(context, this.name, answers.map(outcomeOf), { winner: '200', losers })
    const alive = await Promise.all(visitors.map(async (visitor) => outcomeOf(await visitor.get('/me'))))
    expectEqual(context, `${this.name}: sessions afterwards`, alive.filter((outcome) => outcome === '200').length, 1)
    await expectOnlyPassword(context, this.name, email, answers, '200')
  }
}

export const accountRaces: readonly Race[] = [
  oneEmail,
  verifyToken,
  resetToken,
  deactivatedAccount,
  wrongPasswords,
  tenPoints,
  changedPassword
]
