'use client'

import { useState } from 'react'
import { AccountForm } from '@/components/account-form'
import { shop } from '@/lib/browser-shop'

export default function RegisterPage() {
  const [sentTo, setSentTo] = useState('')

  async function register(form: FormData) {
    const email = String(form.get('email'))
    const answer = await shop.register({
      email,
      displayName: String(form.get('displayName')),
      password: String(form.get('password')),
      acceptTerms: form.has('acceptTerms')
    })
    // A shop can require a verified email before the first login.
    if ('entitlements' in answer) location.assign('/account')
    else setSentTo(email)
  }

  if (sentTo !== '') {
    return (
      <>
        <h1>Almost done</h1>
        <p role="status">We have sent a link to {sentTo}. Open it to confirm your address.</p>
      </>
    )
  }
  return (
    <>
      <h1>Create an account</h1>
      <AccountForm button="Create my account" submit={register}>
        <label>
          Your name
          <input name="displayName" autoComplete="name" required />
        </label>
        <label>
          Email
          <input name="email" type="email" autoComplete="username" required />
        </label>
        <label>
          Password
          <input name="password" type="password" autoComplete="new-password" minLength={8} required />
        </label>
        <label className="tick">
          <input name="acceptTerms" type="checkbox" required /> I accept the terms
        </label>
      </AccountForm>
    </>
  )
}
