import type { PostalAddress } from '../../platform/postal/lines.ts'

/** An address as the buyer entered it. */
export type Address = PostalAddress & { phone?: string; email?: string }

/** The buyer's name, company and phone number as they were entered with the order. */
export type OrderContact = { firstName?: string; lastName?: string; phone?: string; companyName?: string }
