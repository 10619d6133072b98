/** The package has types only for its index, which would unpack every dictionary. */
declare module '@zxcvbn-ts/language-common/dist/passwords.json.mjs' {
  const passwords: readonly string[]
  export default passwords
}
