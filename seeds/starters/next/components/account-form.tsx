'use client'

import { isShopError } from '@shopstead/client'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { messageOf } from '@/lib/browser-shop'

type Props = { button: string; submit: (form: FormData) => Promise<void>; children: ReactNode }

/** A form that shows what the shop refuses. */
export function AccountForm({ button, submit, children }: Props) {
  const [errors, setErrors] = useState<string[]>([])
  const [isSending, setSending] = useState(false)

  async function send(form: FormData) {
    setSending(true)
    setErrors([])
    try {
      await submit(form)
    } catch (cause) {
      const fields = isShopError(cause, 'VALIDATION_FAILED')
        ? Object.values(cause.details.fieldErrors ?? {}).flat()
        : []
      setErrors(fields.length > 0 ? fields : [messageOf(cause)])
    }
    setSending(false)
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void send(new FormData(event.currentTarget))
      }}
    >
      {errors.length > 0 && (
        <div className="error" role="alert">
          {errors.map((text) => (
            <p key={text}>{text}</p>
          ))}
        </div>
      )}
      {children}
      <button disabled={isSending}>{button}</button>
    </form>
  )
}

/** A path of this site; the account for anything else, such as the address of another site. */
export function ownPath(next: string | null): string {
  return next !== null && /^\/(?![/\\])[\w/-]*$/.test(next) ? next : '/account'
}
