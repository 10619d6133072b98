import { domainToASCII } from 'node:url'

/** An email address as Stripe takes it: with its domain in ASCII. */
export function gatewayEmail(email: string): string {
  const at = email.lastIndexOf('@') + 1
  return email.slice(0, at) + domainToASCII(email.slice(at))
}
