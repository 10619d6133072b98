CREATE TABLE `commission_totals` (
	`affiliate_id` integer NOT NULL,
	`currency` text NOT NULL,
	`kind` text NOT NULL,
	`amount_minor` integer NOT NULL,
	PRIMARY KEY(`affiliate_id`, `currency`, `kind`),
	FOREIGN KEY (`affiliate_id`) REFERENCES `affiliates`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `referral_totals` (
	`affiliate_id` integer NOT NULL,
	`day` integer NOT NULL,
	`currency` text NOT NULL,
	`status` text NOT NULL,
	`orders` integer NOT NULL,
	`amount_minor` integer NOT NULL,
	PRIMARY KEY(`affiliate_id`, `day`, `currency`, `status`),
	FOREIGN KEY (`affiliate_id`) REFERENCES `affiliates`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
DROP INDEX `commission_entries_by_affiliate`;--> statement-breakpoint
DROP INDEX `referrals_by_time`;
--> statement-breakpoint
CREATE TRIGGER `referrals_added_up` AFTER INSERT ON `referrals` BEGIN INSERT INTO referral_totals (affiliate_id, day, currency, status, orders, amount_minor)
          VALUES (NEW.affiliate_id, NEW.created_at / 86400000, NEW.currency, NEW.status, 1, NEW.amount_minor)
          ON CONFLICT DO UPDATE SET orders = orders + 1, amount_minor = amount_minor + excluded.amount_minor; END;
--> statement-breakpoint
CREATE TRIGGER `referrals_added_up_again` AFTER UPDATE OF status, amount_minor ON `referrals` BEGIN UPDATE referral_totals SET orders = orders - 1, amount_minor = amount_minor - OLD.amount_minor
          WHERE affiliate_id = OLD.affiliate_id AND day = OLD.created_at / 86400000 AND currency = OLD.currency
            AND status = OLD.status;
          INSERT INTO referral_totals (affiliate_id, day, currency, status, orders, amount_minor)
          VALUES (NEW.affiliate_id, NEW.created_at / 86400000, NEW.currency, NEW.status, 1, NEW.amount_minor)
          ON CONFLICT DO UPDATE SET orders = orders + 1, amount_minor = amount_minor + excluded.amount_minor; END;
--> statement-breakpoint
CREATE TRIGGER `commission_entries_added_up` AFTER INSERT ON `commission_entries` BEGIN INSERT INTO commission_totals (affiliate_id, currency, kind, amount_minor)
          VALUES (NEW.affiliate_id, NEW.currency, NEW.kind, NEW.amount_minor)
          ON CONFLICT DO UPDATE SET amount_minor = amount_minor + excluded.amount_minor; END;

--> statement-breakpoint
INSERT INTO `referral_totals` (`affiliate_id`, `day`, `currency`, `status`, `orders`, `amount_minor`)
  SELECT `affiliate_id`, `created_at` / 86400000, `currency`, `status`, count(*), sum(`amount_minor`)
  FROM `referrals` GROUP BY 1, 2, 3, 4;
--> statement-breakpoint
INSERT INTO `commission_totals` (`affiliate_id`, `currency`, `kind`, `amount_minor`)
  SELECT `affiliate_id`, `currency`, `kind`, sum(`amount_minor`) FROM `commission_entries` GROUP BY 1, 2, 3;
