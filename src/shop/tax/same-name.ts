/** Legal forms, and words between names, in which the names of two companies can be alike. */
const common = new Set(
  (
    'AG AB AS APS BV BVBA CO COMPANY CV DOO EOOD EURL GBR GMBH HANDELS INC KFT KG KGAA LDA LIMITED LLC LTD MBH NV OHG OOD ' +
    'OU OY OYJ OO PLC SA SARL SAS SASU SCI SIA SL SLU SNC SOCIETE SP SPA SPRL SRL SRO UAB UG ZOO ' +
    'AND DE DER DI DU ET FOR LA LE OF THE UND VAN VON'
  ).split(' ')
)

/**
 * Whether the name in a register may be that of the buyer: at least half the words of the shorter one are in the other,
 * without accents and legal forms. Names that cannot be compared, because one is empty or in another script, may be the same.
 */
export function isSameName(registered: string, names: readonly string[]): boolean {
  const own = wordsOf(registered)
  const given = new Set(names.flatMap((name) => [...wordsOf(name)]))
  if (own.size === 0 || given.size === 0 || isLatin(own) !== isLatin(given)) return true
  const shared = [...own].filter((word) => given.has(word))
  return shared.length * 2 >= Math.min(own.size, given.size)
}

function wordsOf(name: string): Set<string> {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').replaceAll('ß', 'ss').toUpperCase()
  return new Set(plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 1 && !common.has(word)))
}

function isLatin(words: ReadonlySet<string>): boolean {
  return [...words].some((word) => /\p{Script=Latin}/u.test(word))
}
