/** A day as the pages write it, such as 15 January 2027, in UTC. */
export const dayFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
