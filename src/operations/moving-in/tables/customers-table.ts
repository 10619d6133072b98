import { isTruthy, splitList } from '../../../shop/catalog/import/csv-table.ts'
import { emailKey } from '../../../platform/text.ts'
import { customerAddress } from '../customers.ts'
import type { CustomerRecord } from '../customers.ts'
import { addressTitles } from './addresses.ts'
import type { Cells } from './cells.ts'
import type { Fields } from './csv-file.ts'

/** The columns of accounts, with the titles in Shopify's export of customers. */
export const customerFields: Fields = {
  email: ['E-mail', 'Email address'],
  username: [],
  name: ['Display name'],
  firstName: ['First Name', 'first_name'],
  lastName: ['Last Name', 'last_name'],
  company: ['Default Address Company', 'Company'],
  phone: ['Phone', 'Default Address Phone'],
  address1: ['Default Address Address1'],
  address2: ['Default Address Address2'],
  city: ['Default Address City'],
  postcode: ['Default Address Zip', 'zip'],
  state: ['Default Address Province Code', 'province'],
  country: ['Default Address Country Code'],
  groups: ['Group', 'Customer group'],
  marketing: ['Accepts Email Marketing', 'Accepts Marketing'],
  registeredAt: ['registered_at'],
  passwordHash: ['password_hash']
}

/** An account of a table. Its email identifies it. */
export function toCustomer(cells: Cells): CustomerRecord {
  const { text } = cells
  const email = cells.required('email')
  return {
    id: emailKey(email),
    label: email,
    email,
    username: text('username'),
    displayName: text('name'),
    firstName: text('firstName'),
    lastName: text('lastName'),
    company: text('company'),
    phone: text('phone'),
    billingEmail: '',
    passwordHash: text('passwordHash'),
    address: customerAddress((part) => {
      if (part === 'first_name') return text('firstName')
      if (part === 'last_name') return text('lastName')
      return part === 'country' ? text('country').toUpperCase() : text(addressTitles[part])
    }),
    groups: [...new Set(splitList(text('groups')))],
    isAdmin: false,
    remarks: [],
    marketingOptIn: isTruthy(text('marketing')),
    createdAt: cells.time('registeredAt')
  }
}
