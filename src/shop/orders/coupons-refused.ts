/** Why an order was refused: codes that did not apply. The limit on guessing codes counts them. */
export class CouponsRefused extends Error {
  override readonly name = 'CouponsRefused'
  readonly count: number

  constructor(count: number) {
    super(`${count} codes did not apply`)
    this.count = count
  }
}
