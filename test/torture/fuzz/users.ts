import { Browser } from '../../support/browser.ts'
import { demoPassword } from '../../../src/operations/seeding/logins.ts'
import type { Secrets } from './verify.ts'

/** A client's identity in requests. */
export type Person = { email: string; token: string; nonce: string }

/** One user of each kind in the demo shop. */
const logins = ['admin', 'mira', 'jonas', 'petra', 'lena', 'new'].map((name) => `${name}@shop.example`)

/** The users whose sessions the requests use, and one whose session must never appear in a response. */
export class Users {
  readonly people: Person[] = []
  readonly guest: Person = { email: '', token: '', nonce: '' }
  private readonly apiRoot: string
  private readonly secrets: Secrets

  constructor(apiRoot: string, secrets: Secrets) {
    this.apiRoot = apiRoot
    this.secrets = secrets
  }

  /** Logs in every user without a valid session, and fetches a nonce for each. */
  async collect(): Promise<void> {
    if (this.people.length === 0) await this.recordVictim()
    for (const email of logins) {
      const known = this.people.find((person) => person.email === email)
      if (known === undefined) this.people.push(await this.enter(email))
      else Object.assign(known, await this.enter(email, known.token))
    }
    this.guest.nonce = await new Browser(this.apiRoot).nonce()
  }

  private async recordVictim(): Promise<void> {
    const victim = new Browser(this.apiRoot)
    await victim.post('/auth/login', { email: 'tomas.brandt@example.org', password: demoPassword })
    this.secrets.add("another's session", victim.cookies.get('shopstead_session') ?? '')
  }

  private async enter(email: string, token = ''): Promise<Person> {
    const browser = new Browser(this.apiRoot)
    if (token !== '') browser.cookies.set('shopstead_session', token)
    if (token === '' || (await browser.get('/me')).status !== 200) {
      browser.cookies.clear()
      const { status } = await browser.post('/auth/login', { email, password: demoPassword })
      // A fuzzed request changed the password. Register a new user instead.
      if (status !== 200) await this.register(browser)
    }
    const session = browser.cookies.get('shopstead_session') ?? ''
    this.secrets.add('a session', session)
    return { email, token: session, nonce: await browser.nonce() }
  }

  private async register(browser: Browser): Promise<void> {
    const { status } = await browser.register({ email: `newcomer-${crypto.randomUUID()}@example.com` })
    if (status !== 201) throw new Error(`The registration failed: ${status}.`)
  }
}
