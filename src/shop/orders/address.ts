import { z } from 'zod'
import { postalAddress } from '../../platform/postal/address.ts'

const part = z.string().exactOptional()

/** An address as the buyer entered it. */
export const orderAddress = postalAddress.extend({ phone: part, email: part })
export type Address = z.output<typeof orderAddress>

/** The buyer's name, company and phone number as they were entered with the order. */
export const orderContact = z.object({ firstName: part, lastName: part, phone: part, companyName: part })
export type OrderContact = z.output<typeof orderContact>
