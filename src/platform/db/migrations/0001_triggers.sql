-- What a query builder cannot say: full-text search, counters that no writer can forget, and a ledger that only grows.

CREATE VIRTUAL TABLE `products_search` USING fts5(name, description, tags, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3');
--> statement-breakpoint
INSERT INTO `revisions` (`name`, `value`) VALUES ('settings', 1), ('catalog', 1);
--> statement-breakpoint
CREATE TRIGGER `settings_inserted` AFTER INSERT ON `settings` BEGIN UPDATE `revisions` SET `value` = `value` + 1 WHERE `name` = 'settings'; END;
--> statement-breakpoint
CREATE TRIGGER `settings_updated` AFTER UPDATE ON `settings` BEGIN UPDATE `revisions` SET `value` = `value` + 1 WHERE `name` = 'settings'; END;
--> statement-breakpoint
CREATE TRIGGER `settings_deleted` AFTER DELETE ON `settings` BEGIN UPDATE `revisions` SET `value` = `value` + 1 WHERE `name` = 'settings'; END;
--> statement-breakpoint
CREATE TRIGGER `modules_inserted` AFTER INSERT ON `modules` BEGIN UPDATE `revisions` SET `value` = `value` + 1 WHERE `name` = 'settings'; END;
--> statement-breakpoint
CREATE TRIGGER `modules_updated` AFTER UPDATE ON `modules` BEGIN UPDATE `revisions` SET `value` = `value` + 1 WHERE `name` = 'settings'; END;
--> statement-breakpoint
CREATE TRIGGER `products_inserted` AFTER INSERT ON `products` BEGIN UPDATE `revisions` SET `value` = `value` + 1 WHERE `name` = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `products_updated` AFTER UPDATE OF `slug`, `name`, `description`, `url`, `type`, `price_minor`, `sale_price_minor`, `sale_starts_at`, `sale_ends_at`, `published`, `position` ON `products` BEGIN UPDATE `revisions` SET `value` = `value` + 1 WHERE `name` = 'catalog'; END;
--> statement-breakpoint
-- A sale of counted stock changes no offer until the last unit goes or the first comes back.
CREATE TRIGGER `products_sold_out` AFTER UPDATE OF `stock` ON `products` WHEN (coalesce(OLD.`stock`, 1) > 0) <> (coalesce(NEW.`stock`, 1) > 0) BEGIN UPDATE `revisions` SET `value` = `value` + 1 WHERE `name` = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `products_deleted` AFTER DELETE ON `products` BEGIN UPDATE `revisions` SET `value` = `value` + 1 WHERE `name` = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `variations_inserted` AFTER INSERT ON `variations` BEGIN UPDATE `revisions` SET `value` = `value` + 1 WHERE `name` = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `variations_updated` AFTER UPDATE OF `sku`, `name`, `price_minor`, `sale_price_minor`, `is_default`, `position`, `available` ON `variations` BEGIN UPDATE `revisions` SET `value` = `value` + 1 WHERE `name` = 'catalog'; END;
--> statement-breakpoint
-- One without a stock of its own draws on its product's, so null is told from counted.
CREATE TRIGGER `variations_sold_out` AFTER UPDATE OF `stock` ON `variations` WHEN OLD.`stock` IS NULL OR NEW.`stock` IS NULL OR (OLD.`stock` > 0) <> (NEW.`stock` > 0) BEGIN UPDATE `revisions` SET `value` = `value` + 1 WHERE `name` = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `variations_deleted` AFTER DELETE ON `variations` BEGIN UPDATE `revisions` SET `value` = `value` + 1 WHERE `name` = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `categories_updated` AFTER UPDATE ON `categories` BEGIN UPDATE `revisions` SET `value` = `value` + 1 WHERE `name` = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `product_categories_inserted` AFTER INSERT ON `product_categories` BEGIN UPDATE `revisions` SET `value` = `value` + 1 WHERE `name` = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `product_categories_deleted` AFTER DELETE ON `product_categories` BEGIN UPDATE `revisions` SET `value` = `value` + 1 WHERE `name` = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `product_tags_inserted` AFTER INSERT ON `product_tags` BEGIN UPDATE `revisions` SET `value` = `value` + 1 WHERE `name` = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `product_tags_deleted` AFTER DELETE ON `product_tags` BEGIN UPDATE `revisions` SET `value` = `value` + 1 WHERE `name` = 'catalog'; END;
--> statement-breakpoint
CREATE TRIGGER `orders_counted` AFTER INSERT ON `orders` WHEN NEW.`user_id` IS NOT NULL BEGIN
  INSERT INTO `customer_order_totals` (`user_id`, `total`) VALUES (NEW.`user_id`, 1) ON CONFLICT (`user_id`) DO UPDATE SET `total` = `total` + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `orders_moved` AFTER UPDATE OF `user_id` ON `orders` WHEN OLD.`user_id` IS NOT NEW.`user_id` BEGIN
  UPDATE `customer_order_totals` SET `total` = `total` - 1 WHERE `user_id` = OLD.`user_id`;
  INSERT INTO `customer_order_totals` (`user_id`, `total`) SELECT NEW.`user_id`, 1 WHERE NEW.`user_id` IS NOT NULL
    ON CONFLICT (`user_id`) DO UPDATE SET `total` = `total` + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `orders_kept` BEFORE DELETE ON `orders` BEGIN SELECT RAISE(ABORT, 'orders are never deleted'); END;
--> statement-breakpoint
CREATE TRIGGER `commission_entries_unchanged` BEFORE UPDATE ON `commission_entries` BEGIN SELECT RAISE(ABORT, 'the commission ledger is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `commission_entries_kept` BEFORE DELETE ON `commission_entries` BEGIN SELECT RAISE(ABORT, 'the commission ledger is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `order_history_unchanged` BEFORE UPDATE ON `order_history` BEGIN SELECT RAISE(ABORT, 'the audit rows are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `order_history_kept` BEFORE DELETE ON `order_history` BEGIN SELECT RAISE(ABORT, 'the audit rows are append-only'); END;
