import type { Visitor } from '../../src/shop/checkout/order-visitor.ts'

/** A visitor who has nothing but the link of an order. */
export const withTheLink: Visitor = { userId: null, guest: null, mailbox: null, gaveEmail: null }

/** The visitor whose browser gave the order this email. */
export const whoGave = (email: string): Visitor => ({ ...withTheLink, gaveEmail: email })
