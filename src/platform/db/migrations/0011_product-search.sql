CREATE TABLE `search_words` (
	`word` text PRIMARY KEY NOT NULL
) STRICT;
--> statement-breakpoint
DROP TABLE `products_search`;
--> statement-breakpoint
CREATE VIRTUAL TABLE `products_search`
USING fts5(name, tags, labels, description, keys, content = '', contentless_delete = 1,
  tokenize = 'unicode61 remove_diacritics 2', prefix = '1 2 3');
--> statement-breakpoint
CREATE TEMP TABLE `new_entries` AS
SELECT p.`id`, p.`name`, p.`description`,
  coalesce((SELECT group_concat(`tag`, ', ') FROM `product_tags` WHERE `product_id` = p.`id`), '') AS `tags`,
  concat_ws(', ',
    (SELECT group_concat(c.`name`, ', ') FROM `product_categories` pc JOIN `categories` c ON c.`id` = pc.`category_id` WHERE pc.`product_id` = p.`id`),
    (SELECT group_concat(`sku`, ', ') FROM `variations` WHERE `product_id` = p.`id` AND `available` = 1)
  ) AS `labels`,
  concat_ws(' ', char(0xE000) || 'listed', char(0xE000) || 'p' || p.`id`,
    (SELECT group_concat(char(0xE000) || 'c' || `category_id`, ' ') FROM `product_categories` WHERE `product_id` = p.`id`)
  ) AS `keys`,
  ((
    CASE
      WHEN EXISTS (SELECT 1 FROM `variations` v WHERE v.`product_id` = p.`id` AND v.`available` = 1) THEN NOT EXISTS (
        SELECT 1 FROM `variations` v WHERE v.`product_id` = p.`id` AND v.`available` = 1 AND coalesce(v.`stock`, p.`stock`, 1) > 0
      )
      ELSE coalesce(p.`stock`, 1) <= 0
    END
  ) << 62) | (max(0, min(p.`position`, (1 << 30) - 1)) << 32) | p.`id` AS `rank`
FROM `products` p WHERE p.`published` = 1;
--> statement-breakpoint
INSERT INTO `products_search` (`rowid`, `name`, `tags`, `labels`, `description`, `keys`)
SELECT `rank`, `name`, `tags`, `labels`, `description`,
  concat_ws(' ', `keys`, sign_tokens(char(0xE001), `name` || ' ' || `description` || ' ' || `tags`), sign_tokens(char(0xE002), `labels`))
FROM `new_entries`;
--> statement-breakpoint
INSERT OR IGNORE INTO `search_words` (`word`)
SELECT w.`value` FROM `new_entries` e, json_each(spelling_words(concat_ws(' ', e.`name`, e.`tags`, e.`labels`, e.`description`))) w;
--> statement-breakpoint
DROP TABLE `new_entries`;
