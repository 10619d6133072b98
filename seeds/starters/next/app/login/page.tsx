'use client'

import Link from 'next/link'
import { AccountForm, ownPath } from '@/components/account-form'
import { shop } from '@/lib/browser-shop'

export default function LoginPage() {
  async function logIn(form: FormData) {
    await shop.login({ email: String(form.get('email')), password: String(form.get('password')) })
    location.assign(ownPath(new URLSearchParams(location.search).get('next')))
  }

  return (
    <>
      <h1>Log in</h1>
      <AccountForm button="Log in" submit={logIn}>
        <label>
          Email
          <input name="email" type="email" autoComplete="username" required />
        </label>
        <label>
          Password
          <input name="password" type="password" autoComplete="current-password" required />
        </label>
      </AccountForm>
      <p>
        <Link href="/register">Create an account</Link>
      </p>
    </>
  )
}
