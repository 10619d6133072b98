import { validationFailed, type AppError } from '../../errors.ts'
import { trimEndOf, trimStartOf } from '../text.ts'
import { fieldPath } from './validation.ts'

type Container = Record<string, unknown> | unknown[]

/** The maximum depth of nested objects and arrays, including the outermost. */
const deepest = 12
const mostErrors = 20
/** More digits than any amount, id or time needs. Longer numbers are refused before they are parsed. */
const longestNumber = 40

/**
 * Parses JSON more strictly than JSON.parse, because two parsers must not read the same bytes differently. It rejects
 * names that reach into prototypes, repeated names (RFC 8259 does not define which one counts), numbers that JavaScript
 * would round, and text that is not valid Unicode. The time is linear in the length of the text.
 *
 * @throws AppError VALIDATION_FAILED with the dotted path of each fault
 */
export function parseStrictJson(text: string): unknown {
  const { names, hasRounded } = scan(text)
  const value = parse(text)
  if (survey(value) !== names) throw bodyInvalid('Must not use a field name twice in one object.')
  if (hasRounded) survey(markRounded(text))
  return value
}

/** VALIDATION_FAILED for the body as a whole (`_body`). */
export function bodyInvalid(message: string): AppError {
  return validationFailed({ _body: [message] })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message quotes the input.
    throw bodyInvalid('Must be valid JSON.')
  }
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}

/** Rejects the faults anywhere in a parsed value, and counts the names in its objects. */
function survey(value: unknown): number {
  const walk = new Survey()
  if (isContainer(value)) walk.visit(value)
  walk.finish()
  return walk.names
}

class Survey {
  names = 0
  readonly #path: PropertyKey[] = []
  // A map, because a field may be named __proto__.
  readonly #errors = new Map<string, string[]>()

  visit(container: Container): void {
    if (this.#path.length >= deepest) {
      this.#refuse(`Must not be nested more than ${deepest} levels deep.`)
      this.finish()
    }
    if (Array.isArray(container)) {
      for (let index = 0; index < container.length; index += 1) this.#child(index, container[index])
      return
    }
    for (const name of Object.keys(container)) {
      this.names += 1
      this.#child(name, container[name])
    }
  }

  finish(): void {
    if (this.#errors.size > 0) throw validationFailed(Object.fromEntries(this.#errors))
  }

  #child(name: PropertyKey, value: unknown): void {
    this.#path.push(name)
    if (name === '__proto__' || name === 'constructor' || name === 'prototype') this.#refuse('Is not a known field.')
    if (typeof value === 'number') this.#checkNumber(value)
    else if (typeof value === 'string') this.#checkText(value)
    else if (value === rounded) this.#refuse(inexact)
    else if (isContainer(value)) this.visit(value)
    this.#path.pop()
  }

  #checkNumber(value: number): void {
    if (!Number.isFinite(value)) this.#refuse('Must be a finite number.')
    else if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      this.#refuse(inexact)
    }
  }

  #checkText(value: string): void {
    if (!value.isWellFormed()) this.#refuse('Must be valid Unicode text.')
  }

  #refuse(message: string): void {
    if (this.#errors.size < mostErrors) this.#errors.set(fieldPath(this.#path), [message])
  }
}

const inexact = 'Must be a number that fits a 64-bit float without rounding.'

type Scan = { names: number; hasRounded: boolean }

/**
 * Counts the names in a JSON text (each colon outside a string follows one), and looks for numbers that would be
 * rounded. For a text that is not valid JSON the result means nothing, but the scan ends.
 *
 * @throws AppError VALIDATION_FAILED for a number literal of more than 40 characters
 */
function scan(text: string): Scan {
  const found = { names: 0, hasRounded: false }
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === colon) found.names += 1
    else if (code === quote) index = endOfString(text, index)
    else if (code === minus || isDigit(code)) {
      const end = endOfNumber(text, index)
      if (end - index > longestNumber)
        throw bodyInvalid(`Must not contain a number of more than ${longestNumber} characters.`)
      found.hasRounded ||= isRounded(text.slice(index, end))
      index = end - 1
    }
  }
  return found
}

const colon = 0x3a
const quote = 0x22
const backslash = 0x5c
const minus = 0x2d

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** The index of the quote that ends a string, or of the text's end. */
function endOfString(text: string, start: number): number {
  let index = start + 1
  for (; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === quote) break
    if (code === backslash) index += 1
  }
  return index
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1
  while (end < text.length && '0123456789.eE+-'.includes(text.charAt(end))) end += 1
  return end
}

/** Fifteen significant digits always survive, unless the exponent is out of range. */
const isExact = /^-?[\d.]{1,15}(?:[eE][+-]?\d{1,2})?$/

function isRounded(number: string): boolean {
  return !isExact.test(number) && significant(number) !== significant(String(Number(number)))
}

/** Replaces a number with more digits than a JavaScript number can represent. */
const rounded = Symbol('rounded')

type WithSource = (
  text: string,
  reviver: (key: string, value: unknown, context: { source?: string }) => unknown
) => unknown

function markRounded(text: string): unknown {
  return (JSON.parse as WithSource)(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && isRounded(source) ? rounded : value
  )
}

/** A number's significant digits and power of ten, so that `1.50`, `15e-1` and `1.5` give the same text. */
function significant(number: string): string {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.')
  const digits = trimStartOf(`${whole}${fraction}`, '0')
  const trimmed = trimEndOf(digits, '0')
  if (trimmed === '') return '0'
  return `${trimmed}e${Number(exponent) - fraction.length + digits.length - trimmed.length}`
}
