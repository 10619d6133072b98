import { h, money, picture } from './dom.js'
import { t } from './texts.js'

/**
 * The rows of the cart. They stay in the page while the cart keeps its lines, so that the focus stays where it is; only
 * their prices and problems change.
 *
 * @param {{ changeQuantity: (index: number, quantity: number) => void, remove: (index: number) => void, buyAgain: () => void }} actions
 */
export function createRows(actions) {
  const list = h('ul', { class: 'lines' })
  /** @type {ReturnType<typeof rowOf>[]} */
  let rows = []

  return {
    list,
    /** Shows the lines of the cart, with the prices that it stores. */
    show(cart) {
      rows = cart.map((line, index) => rowOf(line, index, actions))
      list.replaceChildren(...rows.map(({ element }) => element))
    },
    /** Shows the problems that name lines, by the path of the request, and returns the others. */
    showProblems(problems, cart) {
      const byRow = rows.map(() => /** @type {any[]} */ ([]))
      const others = problems.filter((problem) => {
        const row = byRow[lineOf(problem)]
        row?.push(problem)
        return row === undefined
      })
      for (const [index, row] of rows.entries()) row.showProblems(byRow[index], cart[index])
      return others
    },
    /** Updates prices and quantities without replacing the rows. */
    update(cart) {
      for (const [index, row] of rows.entries()) row.update(cart[index])
    },
    focusQuantity: (index) => rows[index]?.input.focus(),
    focusProblem: () => rows.find(({ hasProblem }) => hasProblem())?.focusProblem()
  }
}

/** The index of the line that a problem names (`items.2.quantity`); -1 if it names no line. */
export function lineOf({ path }) {
  const [, index = '-1'] = /^items\.(\d+)/.exec(path) ?? []
  return Number(index)
}

function rowOf(line, index, actions) {
  const id = `quantity-${index}`
  const problemId = `problem-${index}`
  const price = h('span', { class: 'price' })
  const problem = h('div', { class: 'problem', id: problemId, tabindex: '-1', hidden: true })
  const input = h('input', {
    id,
    type: 'number',
    inputmode: 'numeric',
    min: 1,
    max: 50,
    'aria-label': t('cart.quantityOf', { name: line.name }),
    oninput: () => {
      const quantity = Number(input.value)
      if (Number.isInteger(quantity) && quantity >= 1 && quantity <= 50) actions.changeQuantity(index, quantity)
    },
    onchange: () => {
      const quantity = Math.min(50, Math.max(1, Math.round(Number(input.value) || 1)))
      input.value = String(quantity)
      actions.changeQuantity(index, quantity)
    }
  })
  const remove = h(
    'button',
    {
      type: 'button',
      class: 'plain',
      'aria-label': t('cart.removeNamed', { name: line.name }),
      onclick: () => actions.remove(index)
    },
    t('cart.remove')
  )
  const element = h(
    'li',
    {},
    picture(line.picture, line.name),
    line.slug === ''
      ? h('span', { class: 'name', dir: 'auto' }, line.name)
      : h('a', { class: 'name', dir: 'auto', href: `/products/${line.slug}` }, line.name),
    h('div', { class: 'amounts' }, input, price, remove),
    problem
  )
  const row = {
    element,
    input,
    hasProblem: () => !problem.hidden,
    focusProblem: () => problem.focus(),
    update({ amount, quantity, currency }) {
      if (Number(input.value) !== quantity && document.activeElement !== input) input.value = String(quantity)
      price.textContent = money(amount * quantity, currency)
    },
    showProblems(problems, { slug }) {
      problem.hidden = problems.length === 0
      element.toggleAttribute(
        'data-out',
        problems.some(({ code }) => code !== 'not_enough')
      )
      problem.replaceChildren(...problems.map((each) => h('p', {}, each.message, ' ', fixOf(each, slug))))
      if (problems.length === 0) input.removeAttribute('aria-describedby')
      else input.setAttribute('aria-describedby', problemId)
    }
  }

  /** The button or link that solves a problem; null if only removing the line does. */
  function fixOf({ code, left }, slug) {
    if (code === 'not_enough' && left > 0)
      return h(
        'button',
        { type: 'button', onclick: () => actions.changeQuantity(index, left, true) },
        t('cart.changeTo', { count: left })
      )
    if (code === 'choose_variation') return h('a', { href: `/products/${slug}` }, t('cart.choose'))
    if (code === 'already_subscribed')
      return h('button', { type: 'button', onclick: actions.buyAgain }, t('cart.buyAnother'))
    return null
  }

  row.update(line)
  input.value = String(line.quantity)
  return row
}
