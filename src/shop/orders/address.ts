/** An address as the buyer entered it. */
export type Address = {
  firstName?: string
  lastName?: string
  company?: string
  address1?: string
  address2?: string
  city?: string
  state?: string
  postcode?: string
  country?: string
  phone?: string
  email?: string
}

/** The buyer's name, company and phone number as they were entered with the order. */
export type OrderContact = { firstName?: string; lastName?: string; phone?: string; companyName?: string }
